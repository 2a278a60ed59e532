#include "store/store_lmdb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "store/bytes.h"
#include "store/store_key.h"

/* What a full store may grow by so that keys can still be deleted: LMDB writes new pages to free
 * old ones. They come back with the next transactions. */
enum { RESERVE_SHARE = 16, RESERVE_MIN_BYTES = 1 << 20 };

static struct lmdb_store *of(struct store *base)
{
    return (struct lmdb_store *)base;
}

static MDB_val key_value(struct store_key *key)
{
    return (MDB_val){key->len, key->bytes};
}

/* The key's entry in the expiry index. */
static MDB_val expiry_value(struct store_key *key, uint64_t expire_ms)
{
    put_u64(key->time, expire_ms);
    return (MDB_val){sizeof key->time + key->len, key->time};
}

/* ---- transactions ---------------------------------------------------------------------------- */

/* Only between transactions. LMDB keeps the map at least as large as what is committed. */
static int set_size(struct lmdb_store *store, uint64_t size)
{
    int rc = mdb_env_set_mapsize(store->env, size);
    if (rc)
        lmdb_store_close_env(store); /* it has no map any more; the next begin opens anew */
    return rc;
}

static uint64_t reserve_bytes(const struct lmdb_store *store)
{
    uint64_t share = store->size_max / RESERVE_SHARE;
    return share > RESERVE_MIN_BYTES ? share : RESERVE_MIN_BYTES;
}

static int begin_reading(struct lmdb_store *store)
{
    int rc = store->reader ? mdb_txn_renew(store->reader)
                           : mdb_txn_begin(store->env, NULL, MDB_RDONLY, &store->reader);
    if (rc == 0)
        store->txn = store->reader;
    return rc;
}

static int begin_writing(struct lmdb_store *store, enum store_mode mode)
{
    int rc = 0;
    if (mode == STORE_FREE)
        rc = set_size(store, store->size_max + reserve_bytes(store));
    return rc ? rc : mdb_txn_begin(store->env, NULL, 0, &store->txn);
}

static int lmdb_begin(struct store *base, enum store_mode mode)
{
    struct lmdb_store *store = of(base);
    CW_ASSERT(!store->txn);
    int rc = store->env ? 0 : lmdb_store_open_env(store);
    if (rc == 0)
        rc = mode == STORE_READ ? begin_reading(store) : begin_writing(store, mode);
    if (rc == MDB_PANIC) /* a meta page could not be written; the next begin opens anew */
        lmdb_store_close_env(store);
    store->mode = mode;
    store->next_expiry_before_ms = store->next_expiry_ms;
    return lmdb_store_status(store, rc);
}

/* What follows the end of a transaction of any kind. */
static void end_transaction(struct lmdb_store *store, bool is_kept)
{
    store->txn = NULL;
    if (!is_kept && store->next_expiry_before_ms < store->next_expiry_ms)
        store->next_expiry_ms = store->next_expiry_before_ms;
    if (store->mode == STORE_FREE && store->env)
        set_size(store, store->size_max);
}

static int lmdb_commit(struct store *base)
{
    struct lmdb_store *store = of(base);
    int rc = 0;
    CW_ASSERT(store->txn);
    if (store->mode == STORE_READ)
        mdb_txn_reset(store->txn);
    else
        rc = mdb_txn_commit(store->txn);
    end_transaction(store, rc == 0);
    return lmdb_store_status(store, rc);
}

static void lmdb_abort(struct store *base)
{
    struct lmdb_store *store = of(base);
    if (!store->txn)
        return;
    if (store->mode == STORE_READ)
        mdb_txn_reset(store->txn);
    else
        mdb_txn_abort(store->txn);
    end_transaction(store, false);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Whether a record found under a key's store key is that key's: keys with the same digest are
 * thinkable. */
static bool is_of_key(const struct record *record, struct slice key)
{
    return !(record->flags & RECORD_HAS_KEY) ||
           (record->key.len == key.len && memcmp(record->key.ptr, key.ptr, key.len) == 0);
}

static int lmdb_get(struct store *base, struct slice key, bool is_checked,
                    struct record *ret_record)
{
    struct lmdb_store *store = of(base);
    struct store_key store_key;
    struct record record;
    MDB_val data;
    store_key_make(&store_key, key);
    MDB_val place = key_value(&store_key);
    int rc = mdb_get(store->txn, store->records, &place, &data);
    if (rc)
        return lmdb_store_status(store, rc);
    const char *problem = is_checked ? record_decode(data.mv_data, data.mv_size, &record)
                                     : record_peek(data.mv_data, data.mv_size, &record);
    if (problem)
        return lmdb_store_bad_record(store, key, problem);
    if (!is_of_key(&record, key))
        return STORE_NONE;
    *ret_record = record;
    return STORE_OK;
}

/* Takes the record that is about to go out of the expiry index. STORE_NONE: there is no record. */
static int leave_index(struct lmdb_store *store, struct slice key, struct store_key *store_key)
{
    struct record old;
    MDB_val data, place = key_value(store_key);
    int rc = mdb_get(store->txn, store->records, &place, &data);
    if (rc)
        return lmdb_store_status(store, rc);
    if (record_peek(data.mv_data, data.mv_size, &old) != NULL)
        return STORE_OK; /* its entry, if it has one, goes when it is due */
    if (!is_of_key(&old, key))
        return lmdb_store_bad_record(store, key, "another key has the same digest");
    if (old.expire_ms == 0)
        return STORE_OK;
    MDB_val entry = expiry_value(store_key, old.expire_ms);
    rc = mdb_del(store->txn, store->expiries, &entry, NULL);
    return rc == MDB_NOTFOUND ? STORE_OK : lmdb_store_status(store, rc);
}

static int enter_index(struct lmdb_store *store, struct store_key *store_key, uint64_t expire_ms)
{
    MDB_val entry = expiry_value(store_key, expire_ms), nothing = {0, NULL};
    int rc = mdb_put(store->txn, store->expiries, &entry, &nothing, 0);
    if (expire_ms < store->next_expiry_ms)
        store->next_expiry_ms = expire_ms;
    return lmdb_store_status(store, rc);
}

static int lmdb_put(struct store *base, struct slice key, const struct record *record)
{
    struct lmdb_store *store = of(base);
    struct store_key store_key;
    struct record whole = *record;
    store_key_make(&store_key, key);
    int status = leave_index(store, key, &store_key);
    if (status < 0)
        return status;
    whole.key = key;
    whole.flags &= ~(uint32_t)RECORD_HAS_KEY;
    if (store_key_is_long(store_key.len))
        whole.flags |= RECORD_HAS_KEY;
    MDB_val place = key_value(&store_key), data = {record_len(&whole), NULL};
    int rc = mdb_put(store->txn, store->records, &place, &data, MDB_RESERVE);
    if (rc)
        return lmdb_store_status(store, rc);
    record_encode(&whole, data.mv_data);
    return whole.expire_ms ? enter_index(store, &store_key, whole.expire_ms) : STORE_OK;
}

static int lmdb_remove(struct store *base, struct slice key)
{
    struct lmdb_store *store = of(base);
    struct store_key store_key;
    store_key_make(&store_key, key);
    int status = leave_index(store, key, &store_key);
    if (status != STORE_OK)
        return status;
    MDB_val place = key_value(&store_key);
    return lmdb_store_status(store, mdb_del(store->txn, store->records, &place, NULL));
}

static int lmdb_clear(struct store *base)
{
    struct lmdb_store *store = of(base);
    int rc = mdb_drop(store->txn, store->records, 0);
    if (rc == 0)
        rc = mdb_drop(store->txn, store->expiries, 0);
    return lmdb_store_status(store, rc);
}

/* ---- walks ----------------------------------------------------------------------------------- */

static bool visit_one(MDB_val place, MDB_val data, store_visitor visit, void *context)
{
    struct record record;
    const char *bytes = place.mv_data;
    struct slice key = {bytes + STORE_KEY_HASH_LEN, place.mv_size - STORE_KEY_HASH_LEN};
    bool is_sound = record_peek(data.mv_data, data.mv_size, &record) == NULL;
    if (is_sound && record.flags & RECORD_HAS_KEY)
        key = record.key;
    return visit(context, get_u64(bytes), key, is_sound ? &record : NULL);
}

static int lmdb_walk(struct store *base, uint64_t from, store_visitor visit, void *context)
{
    struct lmdb_store *store = of(base);
    char start[STORE_KEY_HASH_LEN];
    MDB_cursor *cursor;
    MDB_val place = {sizeof start, start}, data;
    put_u64(start, from);
    int rc = mdb_cursor_open(store->txn, store->records, &cursor);
    if (rc)
        return lmdb_store_status(store, rc);
    rc = mdb_cursor_get(cursor, &place, &data, MDB_SET_RANGE);
    while (rc == 0) {
        if (place.mv_size < STORE_KEY_HASH_LEN)
            rc = MDB_CORRUPTED;
        else if (!visit_one(place, data, visit, context))
            break;
        else
            rc = mdb_cursor_get(cursor, &place, &data, MDB_NEXT);
    }
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? STORE_OK : lmdb_store_status(store, rc);
}

/* ---- expiry ---------------------------------------------------------------------------------- */

int lmdb_store_find_next_expiry(struct lmdb_store *store)
{
    MDB_cursor *cursor;
    MDB_val entry, nothing;
    int rc = mdb_cursor_open(store->txn, store->expiries, &cursor);
    if (rc)
        return rc;
    rc = mdb_cursor_get(cursor, &entry, &nothing, MDB_FIRST);
    if (rc == 0 && entry.mv_size < 8)
        rc = MDB_CORRUPTED;
    if (rc == 0 || rc == MDB_NOTFOUND)
        store->next_expiry_ms = rc == 0 ? get_u64(entry.mv_data) : UINT64_MAX;
    mdb_cursor_close(cursor);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

/* Removes the record that an entry of the index is about, unless it has another time by now. */
static int remove_expired(struct lmdb_store *store, const char *entry, size_t len, uint32_t *count)
{
    struct record record;
    MDB_val data, place = {len - 8, (void *)(uintptr_t)(entry + 8)};
    int rc = mdb_get(store->txn, store->records, &place, &data);
    if (rc)
        return rc == MDB_NOTFOUND ? 0 : rc;
    if (record_peek(data.mv_data, data.mv_size, &record) != NULL ||
        record.expire_ms != get_u64(entry))
        return 0;
    *count += 1;
    return mdb_del(store->txn, store->records, &place, NULL);
}

/* Removes the first entry of the index and its record, if its time is over; else MDB_NOTFOUND. */
static int sweep_one(struct lmdb_store *store, MDB_cursor *cursor, uint64_t now_ms, uint32_t *count)
{
    char copy[8 + STORE_KEY_LEN_MAX];
    MDB_val entry, nothing;
    store->next_expiry_ms = UINT64_MAX;
    int rc = mdb_cursor_get(cursor, &entry, &nothing, MDB_FIRST);
    if (rc)
        return rc;
    if (entry.mv_size < 8 + STORE_KEY_HASH_LEN || entry.mv_size > sizeof copy)
        return MDB_CORRUPTED;
    memcpy(copy, entry.mv_data, entry.mv_size);
    store->next_expiry_ms = get_u64(copy);
    if (now_ms <= store->next_expiry_ms)
        return MDB_NOTFOUND;
    size_t len = entry.mv_size;
    rc = mdb_cursor_del(cursor, 0);
    return rc ? rc : remove_expired(store, copy, len, count);
}

static int lmdb_sweep(struct store *base, uint64_t now_ms, uint32_t count_max, uint32_t *ret_count)
{
    struct lmdb_store *store = of(base);
    MDB_cursor *cursor;
    uint32_t count = 0;
    int rc = mdb_cursor_open(store->txn, store->expiries, &cursor);
    if (rc)
        return lmdb_store_status(store, rc);
    for (uint32_t i = 0; i < count_max && rc == 0; i++)
        rc = sweep_one(store, cursor, now_ms, &count);
    mdb_cursor_close(cursor);
    if (rc && rc != MDB_NOTFOUND)
        return lmdb_store_status(store, rc);
    *ret_count = count;
    return STORE_OK;
}

/* ---- the rest -------------------------------------------------------------------------------- */

static MDB_val clock_name(void)
{
    static char name[] = "clock";
    return (MDB_val){sizeof name - 1, name};
}

static int lmdb_get_clock(struct store *base, uint64_t *ret_hlc)
{
    struct lmdb_store *store = of(base);
    MDB_val name = clock_name(), data;
    int rc = mdb_get(store->txn, store->meta, &name, &data);
    if (rc)
        return lmdb_store_status(store, rc);
    if (data.mv_size != 8)
        return STORE_CORRUPT;
    *ret_hlc = get_u64(data.mv_data);
    return STORE_OK;
}

static int lmdb_put_clock(struct store *base, uint64_t hlc)
{
    struct lmdb_store *store = of(base);
    char bytes[8];
    MDB_val name = clock_name(), data = {sizeof bytes, bytes};
    put_u64(bytes, hlc);
    return lmdb_store_status(store, mdb_put(store->txn, store->meta, &name, &data, 0));
}

/* In use is what stands in the trees: the free pages of the file can be used again. */
static int lmdb_measure(struct store *base, struct store_usage *ret_usage)
{
    struct lmdb_store *store = of(base);
    /* 0 and 1 are LMDB's own trees: the free pages, and the names of the other trees. */
    const MDB_dbi trees[] = {0, 1, store->records, store->expiries, store->meta};
    struct store_usage usage = {.size_max = store->size_max,
                                .next_expiry_ms = store->next_expiry_ms};
    for (size_t i = 0; i < sizeof trees / sizeof trees[0]; i++) {
        MDB_stat stat;
        int rc = mdb_stat(store->txn, trees[i], &stat);
        if (rc)
            return lmdb_store_status(store, rc);
        usage.used_bytes += (stat.ms_branch_pages + stat.ms_leaf_pages + stat.ms_overflow_pages) *
                            (uint64_t)stat.ms_psize;
        if (trees[i] == store->records)
            usage.key_count = stat.ms_entries;
    }
    store->used_bytes = usage.used_bytes;
    *ret_usage = usage;
    return STORE_OK;
}

static int lmdb_sync(struct store *base)
{
    return fdatasync(of(base)->data_fd) == 0 ? 0 : -errno;
}

static void lmdb_close(struct store *base)
{
    struct lmdb_store *store = of(base);
    lmdb_abort(base);
    lmdb_store_close_env(store);
    bool is_synced = store->data_fd >= 0 && fdatasync(store->data_fd) == 0;
    if (store->data_fd >= 0)
        close(store->data_fd);
    lmdb_store_unlock(store, is_synced);
    free(store->name);
    free(store->data_dir);
    free(store);
}

const struct store_ops store_lmdb_ops = {
    .close = lmdb_close,
    .begin = lmdb_begin,
    .commit = lmdb_commit,
    .abort = lmdb_abort,
    .get = lmdb_get,
    .put = lmdb_put,
    .remove = lmdb_remove,
    .clear = lmdb_clear,
    .walk = lmdb_walk,
    .sweep = lmdb_sweep,
    .get_clock = lmdb_get_clock,
    .put_clock = lmdb_put_clock,
    .measure = lmdb_measure,
    .sync = lmdb_sync,
    .explain = lmdb_store_explain,
};
