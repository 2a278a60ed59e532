/*
 * Keys and their values as the commands see them: a store, the time of the turn, and the rule that
 * a record whose time is over is not there. Transactions begin when the first command needs one,
 * and are shared by all commands until commit or abort.
 *
 * Failures stay: the first one is kept in `status`, and everything answers it until the
 * transaction is over. Whoever runs the commands looks there once after each of them, and may go on
 * after a damaged record with keyspace_forgive().
 */
#ifndef STORE_KEYSPACE_H
#define STORE_KEYSPACE_H

#include "base/buffer.h"
#include "base/random.h"
#include "store/store.h"

struct keyspace {
    struct store *store; /* not owned */
    uint64_t now_ms;     /* time of day, one for the whole turn */
    int status;          /* enum store_status: the first failure of this transaction */
    bool is_lost;        /* and it cost the transaction; else it was one damaged record */
    bool is_open, is_writing, has_written;
    uint64_t hlc;             /* the last one given out */
    uint64_t hlc_bound;       /* what the store's clock says */
    struct buffer copied;     /* see keyspace_copy() */
    struct store_usage usage; /* as of the last commit */
    uint64_t commits;         /* that wrote something */
    struct random random;
};

/* Reads the store's clock and usage. An enum store_status. */
int keyspace_init(struct keyspace *keyspace, struct store *store, uint64_t now_ms);
/* Aborts what is open; the store stays the caller's. */
void keyspace_fini(struct keyspace *keyspace);

/* Makes sure of a transaction in which one can read, or write (or write what gives room back). A
 * transaction for reading becomes one for writing. */
int keyspace_begin(struct keyspace *keyspace, enum store_mode mode);
/* Ends the transaction; a failure means that none of it happened. */
int keyspace_commit(struct keyspace *keyspace);
void keyspace_abort(struct keyspace *keyspace);

/* Forgets a failure that did not cost the transaction. */
static inline void keyspace_forgive(struct keyspace *keyspace)
{
    if (!keyspace->is_lost)
        keyspace->status = STORE_OK;
}

/* A live record: 1 found, 0 none, negative a failure. peek does not look at the value's checksum.
 */
int keyspace_find(struct keyspace *keyspace, struct slice key, struct record *ret_record);
int keyspace_peek(struct keyspace *keyspace, struct slice key, struct record *ret_record);

/* Puts a value; expire_ms 0: for ever. The value must not point into the store. False: failed. */
bool keyspace_put(struct keyspace *keyspace, struct slice key, struct slice value,
                  uint64_t expire_ms);
/* Whether a live key was removed: 1, 0, or negative for a failure. */
int keyspace_remove(struct keyspace *keyspace, struct slice key);
bool keyspace_clear(struct keyspace *keyspace);
bool keyspace_walk(struct keyspace *keyspace, uint64_t from, store_visitor visit, void *context);
/* How many records there are, also such whose time is over but which are not swept yet. */
uint64_t keyspace_count(struct keyspace *keyspace);
/* Removes up to count_max records whose time is over, in a transaction of its own. Returns how many
 * or a negative status. */
int keyspace_sweep(struct keyspace *keyspace, uint32_t count_max);

/* Copies a value out of the store, so that it can be put again; `room` bytes more can be written
 * behind it. Valid until the next copy. NULL: out of memory. */
char *keyspace_copy(struct keyspace *keyspace, struct slice value, size_t room);

#endif
