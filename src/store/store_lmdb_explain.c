/* What the LMDB driver says when something goes wrong. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/store_lmdb.h"

int lmdb_store_status(struct lmdb_store *store, int rc)
{
    switch (rc) {
    case 0: return STORE_OK;
    case MDB_NOTFOUND: return STORE_NONE;
    case MDB_MAP_FULL: return STORE_FULL;
    case MDB_TXN_FULL: return STORE_TOO_LARGE;
    case ENOMEM: return STORE_MEMORY;
    default: break;
    }
    if (rc < 0 && rc != MDB_PANIC)
        return STORE_CORRUPT;
    store->disk_error = rc == MDB_PANIC ? EIO : rc;
    return STORE_DISK;
}

int lmdb_store_bad_record(struct lmdb_store *store, struct slice key, const char *reason)
{
    size_t len = key.len < sizeof store->bad_key - 1 ? key.len : sizeof store->bad_key - 1;
    for (size_t i = 0; i < len; i++)
        store->bad_key[i] = key.ptr[i] >= ' ' && key.ptr[i] <= '~' ? key.ptr[i] : '?';
    store->bad_key[len] = '\0';
    store->bad_reason = reason;
    return STORE_BAD_RECORD;
}

static void print_bytes(char *to, size_t size, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double number = (double)bytes / 1024;
    size_t unit = 0;
    while (number >= 1024 && unit < 3) {
        number /= 1024;
        unit++;
    }
    snprintf(to, size, "%.1f %s", number, units[unit]);
}

static const char *explain_full(struct lmdb_store *store)
{
    char used[32], max[32];
    print_bytes(used, sizeof used, store->used_bytes);
    print_bytes(max, sizeof max, store->size_max);
    snprintf(store->message, sizeof store->message,
             "OOM node '%s' is full: %s of %s in use; delete keys, or raise its size_max",
             store->name, used, max);
    return store->message;
}

const char *lmdb_store_explain(struct store *base, int status)
{
    struct lmdb_store *store = (struct lmdb_store *)base;
    const char *format = NULL;
    switch (status) {
    case STORE_FULL: return explain_full(store);
    case STORE_TOO_LARGE:
        format = "ERR node '%s' cannot do this much in one command; split it";
        break;
    case STORE_MEMORY: format = "OOM node '%s' is out of memory"; break;
    case STORE_DISK:
        snprintf(store->message, sizeof store->message,
                 "MISCONF node '%s' cannot write to its data directory '%s': %s; make room there",
                 store->name, store->data_dir, strerror(store->disk_error));
        return store->message;
    case STORE_BAD_RECORD:
        snprintf(store->message, sizeof store->message,
                 "ERR the record of key '%s' on node '%s' is damaged (%s); delete or overwrite it",
                 store->bad_key, store->name, store->bad_reason);
        return store->message;
    default:
        snprintf(store->message, sizeof store->message,
                 "ERR the data of node '%s' in '%s' are damaged; put back a copy of the directory",
                 store->name, store->data_dir);
        return store->message;
    }
    snprintf(store->message, sizeof store->message, format, store->name);
    return store->message;
}
