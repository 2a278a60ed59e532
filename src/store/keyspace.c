#include "store/keyspace.h"

#include "base/assert.h"

/* How far ahead of the last hlc the store's clock is set, so that it is written once a second and
 * not with every commit. */
enum { CLOCK_LEASE_MS = 1000 };
enum { COPIED_KEEP_BYTES = 1 << 20 };

static int fail(struct keyspace *keyspace, int status)
{
    if (keyspace->status >= 0)
        keyspace->status = status;
    keyspace->is_lost |= status != STORE_BAD_RECORD;
    return status;
}

/* Half of a command may have been written by now: whatever it was, it costs the transaction. */
static int fail_writing(struct keyspace *keyspace, int status)
{
    keyspace->is_lost = true;
    return fail(keyspace, status);
}

int keyspace_init(struct keyspace *keyspace, struct store *store, uint64_t now_ms)
{
    *keyspace = (struct keyspace){.store = store, .now_ms = now_ms};
    keyspace->random.state = now_ms;
    int status = keyspace_begin(keyspace, STORE_READ);
    if (status == STORE_OK)
        status = store->ops->get_clock(store, &keyspace->hlc_bound);
    if (status >= 0)
        status = store->ops->measure(store, &keyspace->usage);
    keyspace->hlc = keyspace->hlc_bound;
    keyspace_abort(keyspace);
    return status;
}

void keyspace_fini(struct keyspace *keyspace)
{
    keyspace_abort(keyspace);
    buffer_release(&keyspace->copied);
}

/* ---- transactions ---------------------------------------------------------------------------- */

int keyspace_begin(struct keyspace *keyspace, enum store_mode mode)
{
    struct store *store = keyspace->store;
    if (keyspace->status < 0)
        return keyspace->status;
    if (keyspace->is_open && (mode == STORE_READ || keyspace->is_writing))
        return STORE_OK;
    if (keyspace->is_open)
        store->ops->abort(store); /* it has only read, and nobody else writes */
    int status = store->ops->begin(store, mode);
    keyspace->is_open = status == STORE_OK;
    keyspace->is_writing = keyspace->is_open && mode != STORE_READ;
    return status == STORE_OK ? STORE_OK : fail(keyspace, status);
}

static void end_transaction(struct keyspace *keyspace)
{
    keyspace->is_open = keyspace->is_writing = keyspace->has_written = keyspace->is_lost = false;
    keyspace->status = STORE_OK;
}

/* No hlc may be given out twice, not even after a crash. */
static int keep_clock(struct keyspace *keyspace, uint64_t *ret_bound)
{
    struct store *store = keyspace->store;
    *ret_bound = keyspace->hlc_bound;
    if (keyspace->hlc <= keyspace->hlc_bound)
        return STORE_OK;
    *ret_bound = keyspace->hlc + ((uint64_t)CLOCK_LEASE_MS << 16);
    return store->ops->put_clock(store, *ret_bound);
}

static int commit_writes(struct keyspace *keyspace)
{
    struct store *store = keyspace->store;
    struct store_usage usage;
    uint64_t bound;
    int status = keep_clock(keyspace, &bound);
    if (status == STORE_OK)
        status = store->ops->measure(store, &usage);
    if (status != STORE_OK) {
        store->ops->abort(store);
        return status;
    }
    status = store->ops->commit(store);
    if (status == STORE_OK) {
        keyspace->hlc_bound = bound;
        keyspace->usage = usage;
        keyspace->commits++;
    }
    return status;
}

int keyspace_commit(struct keyspace *keyspace)
{
    struct store *store = keyspace->store;
    int status = keyspace->status;
    if (status < 0 || !keyspace->has_written)
        store->ops->abort(store);
    else
        status = commit_writes(keyspace);
    end_transaction(keyspace);
    return status;
}

void keyspace_abort(struct keyspace *keyspace)
{
    keyspace->store->ops->abort(keyspace->store);
    end_transaction(keyspace);
}

/* ---- records --------------------------------------------------------------------------------- */

static int look_up(struct keyspace *keyspace, struct slice key, bool is_checked,
                   struct record *ret_record)
{
    struct store *store = keyspace->store;
    struct record record;
    if (keyspace->status < 0)
        return keyspace->status;
    CW_ASSERT(keyspace->is_open);
    int status = store->ops->get(store, key, is_checked, &record);
    if (status < 0)
        return fail(keyspace, status);
    if (status == STORE_NONE || record.flags & RECORD_TOMBSTONE ||
        record_is_expired(&record, keyspace->now_ms))
        return 0;
    *ret_record = record;
    return 1;
}

int keyspace_find(struct keyspace *keyspace, struct slice key, struct record *ret_record)
{
    return look_up(keyspace, key, true, ret_record);
}

int keyspace_peek(struct keyspace *keyspace, struct slice key, struct record *ret_record)
{
    return look_up(keyspace, key, false, ret_record);
}

bool keyspace_put(struct keyspace *keyspace, struct slice key, struct slice value,
                  uint64_t expire_ms)
{
    struct store *store = keyspace->store;
    if (keyspace->status < 0)
        return false;
    CW_ASSERT(keyspace->is_writing);
    keyspace->hlc = hlc_next(keyspace->hlc, keyspace->now_ms);
    struct record record = {.hlc = keyspace->hlc, .expire_ms = expire_ms, .value = value};
    int status = store->ops->put(store, key, &record);
    keyspace->has_written = true;
    if (status != STORE_OK)
        fail_writing(keyspace, status);
    return status == STORE_OK;
}

int keyspace_remove(struct keyspace *keyspace, struct slice key)
{
    struct store *store = keyspace->store;
    struct record record;
    if (keyspace->status < 0)
        return keyspace->status;
    CW_ASSERT(keyspace->is_writing);
    int found = store->ops->get(store, key, false, &record);
    if (found == STORE_NONE)
        return 0;
    bool is_live = found != STORE_OK || !record_is_expired(&record, keyspace->now_ms);
    int status = store->ops->remove(store, key); /* damaged ones too: that is how they go */
    keyspace->has_written = true;
    return status < 0 ? fail_writing(keyspace, status) : status == STORE_OK && is_live;
}

bool keyspace_clear(struct keyspace *keyspace)
{
    if (keyspace->status < 0)
        return false;
    int status = keyspace->store->ops->clear(keyspace->store);
    keyspace->has_written = true;
    if (status < 0)
        fail_writing(keyspace, status);
    return status == STORE_OK;
}

bool keyspace_walk(struct keyspace *keyspace, uint64_t from, store_visitor visit, void *context)
{
    if (keyspace->status < 0)
        return false;
    int status = keyspace->store->ops->walk(keyspace->store, from, visit, context);
    if (status < 0)
        fail(keyspace, status);
    return status == STORE_OK;
}

uint64_t keyspace_count(struct keyspace *keyspace)
{
    struct store_usage usage;
    if (keyspace->status < 0)
        return 0;
    int status = keyspace->store->ops->measure(keyspace->store, &usage);
    if (status == STORE_OK)
        return usage.key_count;
    fail(keyspace, status);
    return 0;
}

int keyspace_sweep(struct keyspace *keyspace, uint32_t count_max)
{
    struct store *store = keyspace->store;
    uint32_t count = 0;
    CW_ASSERT(!keyspace->is_open);
    int status = keyspace_begin(keyspace, STORE_FREE);
    if (status == STORE_OK)
        status = store->ops->sweep(store, keyspace->now_ms, count_max, &count);
    if (status < 0) {
        keyspace_abort(keyspace);
        return status;
    }
    keyspace->has_written = true;
    status = keyspace_commit(keyspace);
    return status < 0 ? status : (int)count;
}

char *keyspace_copy(struct keyspace *keyspace, struct slice value, size_t room)
{
    struct buffer *copied = &keyspace->copied;
    buffer_clear(copied);
    buffer_trim(copied, COPIED_KEEP_BYTES);
    char *to = buffer_reserve(copied, value.len + room);
    if (!to)
        fail(keyspace, STORE_MEMORY);
    else if (value.len)
        memcpy(to, value.ptr, value.len);
    return to;
}
