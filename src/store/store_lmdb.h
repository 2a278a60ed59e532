/*
 * The inside of the LMDB driver, shared by its files: store_lmdb_open.c brings a directory into
 * use, store_lmdb_lock.c keeps others out of it, store_lmdb.c works with it, and
 * store_lmdb_explain.c says what is wrong. Not for others.
 *
 * A directory holds data.mdb and lock. LMDB runs without its own lock file (MDB_NOLOCK): the store
 * is one thread's and one process's, which an flock() on `lock` assures, and so no stale reader can
 * pin old pages. In data.mdb there are three trees: records, by store_key; expiries, whose keys are
 * time and store_key and whose values are empty; and meta, with the format, the clock
 * and the incarnation.
 */
#ifndef STORE_STORE_LMDB_H
#define STORE_STORE_LMDB_H

#include <limits.h>
#include <lmdb.h>
#include <setjmp.h>

#include "store/store.h"

#define STORE_LMDB_FORMAT "clockwise store 1"

struct lmdb_store {
    struct store base;
    MDB_env *env; /* NULL after a failed reopening */
    MDB_dbi records, expiries, meta;
    MDB_txn *txn;    /* the one that is under way */
    MDB_txn *reader; /* kept between read transactions, at rest */
    enum store_mode mode;
    int lock_fd;
    bool is_locked, is_suspect; /* see store_lmdb_lock.c */
    bool can_escape; /* out of a failed assertion of LMDB's, while the store is looked through */
    jmp_buf escape;
    int data_fd; /* of data.mdb, to sync from any thread, whatever becomes of env */
    uint64_t size_max;
    uint64_t next_expiry_ms;        /* nothing expires before; may be too early, never too late */
    uint64_t next_expiry_before_ms; /* the same when the transaction began */
    bool is_durable;
    int disk_error;         /* errno behind the last STORE_DISK */
    const char *bad_reason; /* behind the last STORE_BAD_RECORD */
    char bad_key[72];
    char *name, *data_dir;
    uint64_t seed;
    uint64_t used_bytes; /* as last measured */
    char message[512];
};

/* Where the sentence goes. */
struct complaint {
    char *message;
    size_t size;
};

/* Fills the sentence in and passes the error on. */
int lmdb_complain(const struct complaint *complaint, int error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What a person can do about an error of the operating system. */
const char *lmdb_remedy(int error);
/* The path of a file in the store's directory. */
void lmdb_store_path(const struct lmdb_store *store, const char *name, char path[static PATH_MAX]);

/* Takes the lock for as long as the store is open, and sees whether its last user was cut off. */
int lmdb_store_lock(struct lmdb_store *store, const struct complaint *complaint);
/* A suspect store was looked through and is fine. */
void lmdb_store_trust(struct lmdb_store *store);
/* is_clean: all that was committed is on the disk. */
void lmdb_store_unlock(struct lmdb_store *store, bool is_clean);

extern const struct store_ops store_lmdb_ops;

/* Opens the environment of a directory that is locked and whose options are set: at the start, and
 * again after LMDB has given up on an environment. 0, or LMDB's or the system's error. */
int lmdb_store_open_env(struct lmdb_store *store);
void lmdb_store_close_env(struct lmdb_store *store);
/* The status that stands for what LMDB returned. */
int lmdb_store_status(struct lmdb_store *store, int rc);
/* Keeps what explain() will say of a damaged record; STORE_BAD_RECORD. */
int lmdb_store_bad_record(struct lmdb_store *store, struct slice key, const char *reason);
const char *lmdb_store_explain(struct store *base, int status);
/* Reads the first entry of the expiry index into next_expiry_ms; needs a transaction. */
int lmdb_store_find_next_expiry(struct lmdb_store *store);

#endif
