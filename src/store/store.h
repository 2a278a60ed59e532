/*
 * What an engine can do: the interface between the commands of an embedded node and the place that
 * keeps its records. One driver a file (store_lmdb.c). A store belongs to one thread, and has at
 * most one transaction at a time; everything but close, sync and explain needs one.
 *
 * Records lie in the order of the hash that places keys (cw_hash_tagged()), so that a range of the
 * placement is a contiguous range of the store, and can be counted, copied and deleted as one.
 *
 * Functions return an enum store_status. After a negative one other than STORE_BAD_RECORD the
 * transaction is lost: abort it. Slices that a store returns are valid until the next write or the
 * end of the transaction, and a value that is put must not point into the store.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/embedded_node.h"
#include "store/record.h"
#include "wire/resp.h"

enum store_status {
    STORE_NONE = 1, /* no such key */
    STORE_OK = 0,
    STORE_FULL = -1,       /* it would need more than size_max */
    STORE_DISK = -2,       /* the operating system refused: no room, an I/O error */
    STORE_TOO_LARGE = -3,  /* more than one transaction can hold */
    STORE_CORRUPT = -4,    /* the store's own structure is damaged */
    STORE_MEMORY = -5,     /* out of memory */
    STORE_BAD_RECORD = -6, /* this one record is damaged; the transaction goes on */
};

enum store_mode {
    STORE_READ,
    STORE_WRITE,
    STORE_FREE, /* a write that gives room back: it may use a reserve beyond size_max */
};

struct store_usage {
    uint64_t key_count;
    uint64_t used_bytes, size_max;
    uint64_t next_expiry_ms; /* when the first record expires; UINT64_MAX: none will */
};

/* Sees one record of a walk; false ends it. record is NULL when it is damaged; its checksum is not
 * looked at. Must not write to the store. */
typedef bool (*store_visitor)(void *context, uint64_t hash, struct slice key,
                              const struct record *record);

enum { STORE_INCARNATION_LEN = 32 };

struct store {
    const struct store_ops *ops;
    char incarnation[STORE_INCARNATION_LEN + 1]; /* made with the data directory, and stays */
};

struct store_ops {
    /* Ends what is open, syncs, frees. */
    void (*close)(struct store *store);
    int (*begin)(struct store *store, enum store_mode mode);
    /* Durable at return if the store was opened so. The transaction is over in any case. */
    int (*commit)(struct store *store);
    void (*abort)(struct store *store); /* fine when there is none */
    /* With is_checked the checksum is verified, at the price of reading the value. */
    int (*get)(struct store *store, struct slice key, bool is_checked, struct record *ret_record);
    /* Puts a record in place of whatever was there; record->key and RECORD_HAS_KEY are the
     * store's. */
    int (*put)(struct store *store, struct slice key, const struct record *record);
    int (*remove)(struct store *store, struct slice key);
    int (*clear)(struct store *store);
    /* Walks the records with hash >= from in the order of their hashes. */
    int (*walk)(struct store *store, uint64_t from, store_visitor visit, void *context);
    /* Removes up to count_max records whose time is over. */
    int (*sweep)(struct store *store, uint64_t now_ms, uint32_t count_max, uint32_t *ret_count);
    /* The persistent clock: a bound that no hlc given out so far exceeds. */
    int (*get_clock)(struct store *store, uint64_t *ret_hlc);
    int (*put_clock)(struct store *store, uint64_t hlc);
    int (*measure)(struct store *store, struct store_usage *ret_usage);
    /* Brings what was committed to the disk; 0 or a negative errno. Any thread. */
    int (*sync)(struct store *store);
    /* A sentence for the client about a failure, with an error code of Redis in front ("OOM …").
     * Valid until the next call. */
    const char *(*explain)(struct store *store, int status);
};

struct store_options {
    const char *name;     /* the node's id, for messages */
    const char *data_dir; /* made when missing (one level) */
    bool is_durable;      /* each commit is on the disk when it returns */
    uint64_t size_max;    /* bytes */
    uint64_t seed;        /* of a new incarnation, for the simulation; 0: from the system */
};

/* Opens the LMDB driver. 0, or a negative errno with a sentence in ret_message that names the
 * directory and the remedy. */
int store_lmdb_open(const struct store_options *options, struct store **ret_store,
                    char *ret_message, size_t message_size);

static inline void store_close(struct store **store)
{
    if (*store)
        (*store)->ops->close(*store);
    *store = NULL;
}

#endif
