/*
 * Jobs: the pieces of work of a transition, each on one node and asynchronous: scan and copy, drain
 * a dirty set, verify, purge. What order they come in, and what must be acknowledged in between, is
 * transition.c's; what a job shares with the others stands in struct move.
 *
 * A key moves from the node that owns it in `from` to the one that owns it in `to`, if these are
 * two (by id). Jobs look at no other keys.
 */
#ifndef MOVE_JOB_H
#define MOVE_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <clockwise/clockwise.h>

#include "base/buffer.h"
#include "io/io.h"
#include "move/key_list.h"
#include "move/peer.h"
#include "move/throttle.h"
#include "router/big_keys.h"
#include "router/router.h"

enum {
    MOVE_BATCH = 64,           /* keys copied in one round trip */
    MOVE_SCAN_COUNT = 512,     /* SCAN's COUNT */
    MOVE_BIG_ELEMENTS = 10000, /* a key with more, or larger, is copied in chunks */
    MOVE_BIG_BYTES = 1 << 20,
    MOVE_CHUNK_ELEMENTS = 128, /* a table that has just grown takes 20 us for each, if the
                                  machine is slow in giving memory */
    MOVE_CHUNK_BYTES = 256 << 10,
    MOVE_PROBLEM_SIZE = 400,
    MOVE_PREFIX_SIZE = 64,
    MOVE_BIG_KEYS_MAX = 4096, /* of one transition; more is refused with a remedy */
};

/* What was done so far, for people. */
struct move_progress {
    uint64_t keys_scanned, keys_expected; /* of all sources; expected by DBSIZE */
    uint64_t keys_copied, bytes_copied;   /* every time that a key is copied counts */
    uint64_t keys_dirty;                  /* drained */
    uint64_t big_keys, chunks;
    uint64_t keys_verified, keys_differ;
    uint64_t keys_purged;
};

/* What the jobs of one transition share. Belongs to the transition, used on the mover's loop. */
struct move {
    struct io_loop *loop;
    struct cw_map *from, *to;
    struct peer **from_peers, **to_peers; /* by the number of the node in its map; one peer for a
                                             node that is in both */
    char prefix[MOVE_PREFIX_SIZE];        /* "\0cw:mig:<id>.<attempt>:", of temporary keys */
    size_t prefix_len;
    uint32_t dead;         /* the number in `from` of a node that is given up, or CW_NO_NODE */
    bool by_value;         /* the nodes refuse each other's DUMP payloads */
    bool has_field_times;  /* a source may know lifetimes of single fields of a hash */
    bool is_urgent;        /* writes are held: jobs do not wait for the throttle */
    uint32_t elements_max; /* a key with more is big, 0: MOVE_BIG_ELEMENTS; ... */
    uint64_t ask_bytes;    /* ... (unless 0) with less memory nobody asks how many it has */
    bool is_embedded;      /* small strings only: no MEMORY USAGE, nothing is big but values */
    /* Of small keys' values, that a source is asked for at once; but one value may be more. 0:
     * COPIER_PORTION_BYTES, which is the most. */
    uint64_t portion_bytes;
    struct throttle *throttle;
    struct move_progress *progress;
    struct key_sample *samples; /* by source, of the keys that job_copy() met; may be NULL */
    struct big_keys *big;       /* known to be big, in the order of big_keys.h */
    struct big_found *found;    /* met by jobs, not known yet: the transition publishes them */
};

/* Whether a key moves from the node number `from_node` of the map `from`, and where. */
bool move_target(const struct move *move, struct slice key, uint32_t from_node, uint32_t *ret_to);

enum job_result {
    JOB_DONE,
    JOB_VOID,    /* the dirty set lost something (eviction, a flush, a restart): copy anew */
    JOB_DIFFERS, /* verification: source and target are not equal */
    JOB_FAILED,  /* a node did not answer or refused; may be tried again */
    JOB_REFUSED, /* it makes no sense to try again before a person did something */
};

/* How a job ended; problem ("" if none) names node, what happened, and the remedy. */
struct job_end {
    enum job_result result;
    uint64_t count; /* keys it was about: copied, drained, verified, purged */
    char problem[MOVE_PROBLEM_SIZE];
};

struct job;
/* Called once, from the loop, never before the job was returned; the job is freed after it. */
typedef void (*job_done)(void *context, const struct job_end *end);

/* Each returns NULL when memory is out. */

/* SCANs the source and copies every key that moves; big ones are put into move->found. */
struct job *job_copy(struct move *move, uint32_t source, job_done done, void *context);
/* Makes the dirty set `set` on the source, with its sentinel in it. */
struct job *job_open_set(struct move *move, uint32_t source, struct slice set, job_done done,
                         void *context);
/* Empties a dirty set to which nobody adds any more and brings each key (or element of a big key)
 * in it to the target: copied, or deleted there when it is gone. JOB_VOID if the sentinel is
 * missing or fewer members came than there were, or if it fails after marks were taken; JOB_REFUSED
 * then also means that marks are lost. Keys drained are put into `drained` (may be NULL),
 * for verification. The set is deleted. */
struct job *job_drain(struct move *move, uint32_t source, struct slice set,
                      struct key_list *drained, job_done done, void *context);
/* Copies one big key in chunks into a temporary key of the target and gives it its name: RENAME.
 * Elements written meanwhile are in the dirty set. */
struct job *job_copy_big(struct move *move, uint32_t source, struct slice key, job_done done,
                         void *context);
/* Compares type, length and expiry of keys on source and target. The list stays as it is until the
 * job has ended; keys in it that do not move are passed over. */
struct job *job_verify(struct move *move, uint32_t source, const struct key_list *keys,
                       job_done done, void *context);
/* The same with the values, element by element; keys that differ are put into `differ` (may be
 * NULL). */
struct job *job_verify_values(struct move *move, uint32_t source, const struct key_list *keys,
                              struct key_list *differ, job_done done, void *context);
/* Compares everything that moves from the source, contents and all, element by element, and looks
 * for keys on the targets that the source does not have. Keys that differ are put into `differ`:
 * they may just have been written, and are compared again later; so the job ends with JOB_DONE, its
 * problem names the first one. What is not compared: in a stream, which elements are pending in a
 * group (only that there are no more of them); with by_value, values of modules. */
struct job *job_verify_deep(struct move *move, uint32_t source, struct key_list *differ,
                            job_done done, void *context);
/* What is to be removed from a node. */
enum purge_what {
    PURGE_ARRIVED, /* of a node of `to`: keys that would move to it, and temporary keys */
    PURGE_LEFT,    /* of a node of `from`: keys that moved away, and dirty sets */
    PURGE_MARKS,   /* of a node of `from`: dirty sets only (a transition was cancelled) */
};
/* SCANs a node and UNLINKs, throttled. With is_dry nothing is removed, only counted. */
struct job *job_purge(struct move *move, enum purge_what what, uint32_t node, bool is_dry,
                      job_done done, void *context);
/* Kills all connections to a node that bear the mover's name (kept by pointer), but the peer's own:
 * those of a router that was killed. */
struct job *job_fence(struct move *move, struct peer *peer, const char *name, job_done done,
                      void *context);
/* Ends a job early: no done is called. */
void job_stop(struct job **job);

#endif
