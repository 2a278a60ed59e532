/*
 * How fast keys may move: token buckets for keys and bytes, and a factor that follows the clients'
 * latency. Pure: time is given.
 *
 * The automatic part compares the clients' p99 and the sources' answer times with what they were
 * before the transition; while either is over its bound the rate is halved (at most every period),
 * else it rises slowly, from a quarter at first; it never goes under a least rate, so that a
 * transition always ends.
 */
#ifndef MOVE_THROTTLE_H
#define MOVE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

struct throttle_settings {
    uint64_t keys_per_second;  /* 0: no limit */
    uint64_t bytes_per_second; /* 0: no limit */
    bool is_automatic;
};

struct throttle {
    struct throttle_settings settings;
    bool is_paused;     /* nothing may be sent */
    double factor;      /* 1 .. least; of the automatic part */
    double keys, bytes; /* tokens; may be negative: what was taken beyond */
    uint64_t filled_ms;
    uint64_t before_p99_us, before_source_us; /* before the transition; 0: not known */
    uint64_t adjusted_ms;
    struct throttle *shared; /* what is taken is taken there too; NULL: nothing is shared */
};

/* Shares with nobody. */
void throttle_init(struct throttle *throttle, const struct throttle_settings *settings,
                   uint64_t now_ms);
void throttle_set(struct throttle *throttle, const struct throttle_settings *settings);
/* How long to wait, in ms, before the next batch may be sent (or before asking again: at most 100);
 * 0: now. The longer of its own and the shared one. */
uint64_t throttle_wait_ms(struct throttle *throttle, uint64_t now_ms);
/* Counts what was sent. */
void throttle_take(struct throttle *throttle, uint64_t keys, uint64_t bytes);
/* What the clients and the sources see now (0: nothing was asked); to be told every half second. */
void throttle_observe(struct throttle *throttle, uint64_t now_ms, uint64_t p99_us,
                      uint64_t source_us);

#endif
