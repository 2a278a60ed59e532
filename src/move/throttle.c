#include "move/throttle.h"

#include <stddef.h>

enum {
    /* What the automatic part starts from where no limit is set. */
    OPEN_KEYS_PER_SECOND = 100000,
    OPEN_BYTES_PER_SECOND = 256 << 20,
    /* It does not go under these, unless the limit itself is less. */
    LEAST_KEYS_PER_SECOND = 1000, /* a percent of what a server can be asked for */
    LEAST_BYTES_PER_SECOND = 1 << 20,
    WAIT_MAX_MS = 100,
    BURST_MS = 100,  /* what is not used is kept for so long */
    PERIOD_MS = 400, /* from one change of the factor to the next; observed every 500 */
    CLIENTS_SLACK_US = 250,
    SOURCE_SLACK_US = 5000, /* our own batches wait in line there */
};

static const double factor_least = 1.0 / 256, factor_first = 1.0 / 4, factor_rise = 1.15;

/* ---- rates ------------------------------------------------------------------------------------
 */

/* 0: no limit. */
static double rate(const struct throttle *throttle, uint64_t limit, uint64_t open, uint64_t least)
{
    if (!throttle->settings.is_automatic)
        return (double)limit;
    double full = (double)(limit ? limit : open), slowed = full * throttle->factor;
    double floor = full < (double)least ? full : (double)least;
    return slowed > floor ? slowed : floor;
}

static double keys_rate(const struct throttle *throttle)
{
    return rate(throttle, throttle->settings.keys_per_second, OPEN_KEYS_PER_SECOND,
                LEAST_KEYS_PER_SECOND);
}

static double bytes_rate(const struct throttle *throttle)
{
    return rate(throttle, throttle->settings.bytes_per_second, OPEN_BYTES_PER_SECOND,
                LEAST_BYTES_PER_SECOND);
}

/* ---- tokens -----------------------------------------------------------------------------------
 */

static double most(double tokens_per_second)
{
    double burst = tokens_per_second * BURST_MS / 1000;
    return burst > 1 ? burst : 1;
}

static double filled(double tokens, double tokens_per_second, double passed_ms)
{
    double now = tokens + tokens_per_second * passed_ms / 1000;
    return now < most(tokens_per_second) ? now : most(tokens_per_second);
}

/* A bucket without a limit is never empty. */
static double wait_ms(double tokens, double tokens_per_second)
{
    if (tokens_per_second == 0 || tokens > 0)
        return 0;
    return (1 - tokens) / tokens_per_second * 1000;
}

static void fill(struct throttle *throttle, uint64_t now_ms)
{
    double passed_ms = now_ms > throttle->filled_ms ? (double)(now_ms - throttle->filled_ms) : 0;
    throttle->keys = filled(throttle->keys, keys_rate(throttle), passed_ms);
    throttle->bytes = filled(throttle->bytes, bytes_rate(throttle), passed_ms);
    throttle->filled_ms = now_ms;
}

void throttle_init(struct throttle *throttle, const struct throttle_settings *settings,
                   uint64_t now_ms)
{
    *throttle = (struct throttle){.settings = *settings,
                                  .factor = settings->is_automatic ? factor_first : 1,
                                  .filled_ms = now_ms,
                                  .adjusted_ms = now_ms};
    throttle->keys = most(keys_rate(throttle));
    throttle->bytes = most(bytes_rate(throttle));
}

void throttle_set(struct throttle *throttle, const struct throttle_settings *settings)
{
    throttle->settings = *settings;
    if (!settings->is_automatic)
        throttle->factor = 1;
    /* A debt made under a faster rate would be waited for at the slower one. */
    if (throttle->keys < 0)
        throttle->keys = 0;
    if (throttle->bytes < 0)
        throttle->bytes = 0;
}

static uint64_t own_wait_ms(struct throttle *throttle, uint64_t now_ms)
{
    fill(throttle, now_ms);
    if (throttle->is_paused)
        return WAIT_MAX_MS;
    double keys = wait_ms(throttle->keys, keys_rate(throttle));
    double bytes = wait_ms(throttle->bytes, bytes_rate(throttle));
    double longer = keys > bytes ? keys : bytes;
    if (longer == 0)
        return 0;
    return longer < WAIT_MAX_MS ? (uint64_t)longer + 1 : WAIT_MAX_MS;
}

uint64_t throttle_wait_ms(struct throttle *throttle, uint64_t now_ms)
{
    uint64_t own = own_wait_ms(throttle, now_ms);
    uint64_t shared = throttle->shared ? own_wait_ms(throttle->shared, now_ms) : 0;
    return own > shared ? own : shared;
}

void throttle_take(struct throttle *throttle, uint64_t keys, uint64_t bytes)
{
    if (throttle->shared)
        throttle_take(throttle->shared, keys, bytes);
    if (keys_rate(throttle) > 0)
        throttle->keys -= (double)keys;
    if (bytes_rate(throttle) > 0)
        throttle->bytes -= (double)bytes;
}

/* ---- the automatic part -----------------------------------------------------------------------
 */

/* Half as much again is noise; on fast networks so is the slack. */
static bool is_slower(uint64_t now_us, uint64_t before_us, uint64_t slack_us)
{
    return before_us && now_us > before_us + before_us / 2 + slack_us;
}

void throttle_observe(struct throttle *throttle, uint64_t now_ms, uint64_t p99_us,
                      uint64_t source_us)
{
    if (!throttle->settings.is_automatic || now_ms < throttle->adjusted_ms + PERIOD_MS)
        return;
    /* Tokens of the time that has passed are those of the rate that was. */
    fill(throttle, now_ms);
    throttle->adjusted_ms = now_ms;
    if (is_slower(p99_us, throttle->before_p99_us, CLIENTS_SLACK_US) ||
        is_slower(source_us, throttle->before_source_us, SOURCE_SLACK_US))
        throttle->factor /= 2;
    else
        throttle->factor *= factor_rise;
    if (throttle->factor < factor_least)
        throttle->factor = factor_least;
    if (throttle->factor > 1)
        throttle->factor = 1;
}
