/*
 * Comparing keys of a source with what arrived on its target. Many keys are compared at once, each
 * in rounds: calls to both nodes; when the last one is answered, the next step is taken.
 * verify_key.c: type, length and expiry; verify_value.c: the value; verify.c and verify_deep.c: the
 * jobs, which say which keys.
 */
#ifndef MOVE_VERIFY_INTERNAL_H
#define MOVE_VERIFY_INTERNAL_H

#include "move/answer.h"
#include "move/job_internal.h"
#include "move/key_scan.h"

enum {
    VERIFY_SOURCE,
    VERIFY_TARGET,
    VERIFY_TYPE_SIZE = 24,
    VERIFY_CURSOR_SIZE = 48,
    VERIFY_MOMENT_MS = 1000, /* what expires within it may be there on one side only */
};

enum verify_how {
    VERIFY_OUTSIDE, /* type, length, expiry */
    VERIFY_VALUE,   /* and the value */
    VERIFY_EXISTS,  /* only whether the source has what the target has */
};

struct verify;
struct verify_key;
struct verify_type;

struct verify_side {
    struct verify_key *key;
    struct peer *peer;
    char type[VERIFY_TYPE_SIZE];
    int64_t expires_ms, length; /* as PEXPIRETIME tells it */
    uint64_t digest;            /* of the last reply */
};

/* A key that is compared. Part of the job. */
struct verify_key {
    struct verify *verify;
    struct buffer name;
    enum verify_how how;
    bool is_used;
    uint32_t pending; /* calls not answered yet */
    void (*next)(struct verify_key *key);
    const char *differs; /* in what; NULL: in nothing so far */
    struct verify_side sides[2];
    const struct verify_type *type;
    int64_t memory_bytes;

    /* values, piece by piece */
    char cursor[VERIFY_CURSOR_SIZE];
    uint64_t position;
    uint32_t ask;
    bool is_whole;
    struct buffer chunk; /* what the source said; the target is asked for the same */
};

struct verify {
    struct job job;
    uint32_t source;
    enum verify_how how;
    uint32_t busy; /* keys that are compared now */
    struct verify_key keys[MOVE_BATCH];

    struct key_list page; /* keys that come next, and how far they are done */
    size_t page_at;
    void (*on_page_done)(struct verify *verify); /* nothing is busy, the page is done */
    void (*on_differ)(struct verify *verify, struct slice key);

    /* of a list */
    const struct key_list *list;
    size_t list_at;
    /* of everything */
    struct key_scan scan;
    struct key_list *differ;
    struct buffer targets; /* uint32_t: nodes of `to` that get something from the source */
    size_t target_at;
    uint32_t target; /* that is walked through */
};

/* ---- the job --------------------------------------------------------------------------------- */

/* Makes the job; NULL when memory is out. */
struct verify *verify_create(struct move *move, uint32_t source, enum verify_how how, job_done done,
                             void *context);
/* Compares what is in the page, as many keys at once as there is room for; then on_page_done(). */
void verify_go_on(struct verify *verify);
/* Ends the job with what it has found; end.problem names the first key that differs. */
void verify_finish(struct verify *verify, enum job_result result);
/* A key is compared: it differs, or not. */
void verify_key_done(struct verify_key *key);

/* ---- one key --------------------------------------------------------------------------------- */

/* Starts to compare a key (copied) that goes to the node number `target` of `to`. */
void verify_key_start(struct verify_key *key, struct verify *verify, struct slice name,
                      uint32_t target);
/* The same for what a later step calls: on both sides, or on one. */
void verify_ask(struct verify_side *side, const struct slice *args, size_t count,
                peer_reply callback);
/* Begins a callback: false when there is no proper answer; then all is done for it. */
bool verify_enter(struct verify_side *side, const char *reply, size_t len);
/* Ends a callback: takes the next step when nothing is pending. */
void verify_leave(struct verify_key *key);
struct slice verify_name(const struct verify_key *key);
/* Ends the comparison of a key: does nothing more than verify_key_done() after looking at the
 * clock. */
void verify_key_end(struct verify_key *key);

/* ---- its value ------------------------------------------------------------------------------- */

/* NULL: a type that cannot be compared piece by piece. */
const struct verify_type *verify_find_type(const char *name);
/* "HLEN" */
const char *verify_length_command(const struct verify_type *type);
/* Compares the values, and ends the comparison. */
void verify_value(struct verify_key *key);

#endif
