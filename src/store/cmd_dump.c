/* How records get from node to node: DUMP, RESTORE, and MEMORY USAGE to know how large they are. */
#include "store/dump.h"
#include "store/handlers.h"

/* Written in place: a value may be as long as all that a node may keep in memory. */
static void reply_payload(struct call *call, const struct record *record)
{
    struct buffer *out = call->out;
    size_t len = dump_len(record->value.len);
    if (len > call->engine->reply_len_max) {
        call->is_oversize = true;
        return;
    }
    char *to = buffer_printf(out, "$%zu\r\n", len) ? buffer_reserve(out, len + 2) : NULL;
    if (!to) {
        call->is_unwritable = true;
        return;
    }
    dump_write(record, to);
    memcpy(to + len, "\r\n", 2);
    buffer_added(out, len + 2);
}

void cmd_dump(struct call *call)
{
    struct record record;
    if (keyspace_find(call->keyspace, arg(call, 1), &record) > 0)
        reply_payload(call, &record);
    else
        reply_null(call);
}

/* ---- RESTORE --------------------------------------------------------------------------------- */

struct restore {
    bool replaces, is_absolute;
    int64_t ttl_ms;
    struct record record;
};

/* The options behind key, ttl and payload. IDLETIME and FREQ are for caches that evict. */
static bool read_restore_options(struct call *call, struct restore *restore)
{
    int64_t number;
    for (uint32_t i = 4; i < arg_count(call); i++) {
        bool has_value = i + 1 < arg_count(call);
        if (arg_is(call, i, "replace")) {
            restore->replaces = true;
        } else if (arg_is(call, i, "absttl")) {
            restore->is_absolute = true;
        } else if (has_value && (arg_is(call, i, "idletime") || arg_is(call, i, "freq"))) {
            if (!arg_integer(call, ++i, &number))
                return false;
        } else {
            reply_syntax_error(call);
            return false;
        }
    }
    return true;
}

/* Redis's order of checks: whether the name is free, the time, the payload. */
static bool is_acceptable(struct call *call, struct restore *restore)
{
    struct record other;
    if (!restore->replaces && keyspace_peek(call->keyspace, arg(call, 1), &other) != 0) {
        reply_error(call, "BUSYKEY Target key name already exists.");
        return false;
    }
    if (!arg_integer(call, 2, &restore->ttl_ms))
        return false;
    if (restore->ttl_ms < 0) {
        reply_error(call, "ERR Invalid TTL value, must be >= 0");
        return false;
    }
    if (!dump_read(arg(call, 3), &restore->record)) {
        reply_error(call, "ERR DUMP payload version or checksum are wrong");
        return false;
    }
    return true;
}

/* The record gets a version of this node: to its readers it is a write like any other. */
void cmd_restore(struct call *call)
{
    struct restore restore = {0};
    if (!read_restore_options(call, &restore) || !is_acceptable(call, &restore))
        return;
    uint64_t now_ms = call->keyspace->now_ms, expire_ms = (uint64_t)restore.ttl_ms;
    if (expire_ms && !restore.is_absolute)
        expire_ms += now_ms;
    if (expire_ms && expire_ms <= now_ms)
        keyspace_remove(call->keyspace, arg(call, 1));
    else
        keyspace_put(call->keyspace, arg(call, 1), restore.record.value, expire_ms);
    reply_ok(call);
}

/* ---- MEMORY ---------------------------------------------------------------------------------- */

/* MEMORY USAGE key [SAMPLES n]: the record and its places in the trees. */
void cmd_memory(struct call *call)
{
    enum { PLACE_BYTES = 32 };
    struct record record;
    int64_t samples;
    uint32_t count = arg_count(call);
    if (!arg_is(call, 1, "usage")) {
        reply_error(call, "ERR of MEMORY, embedded nodes serve only MEMORY USAGE");
        return;
    }
    if (count != 3 && !(count == 5 && arg_is(call, 3, "samples"))) {
        reply_syntax_error(call);
        return;
    }
    if (count == 5 && !arg_integer(call, 4, &samples))
        return;
    if (keyspace_peek(call->keyspace, arg(call, 2), &record) > 0)
        reply_integer(
            call, (int64_t)(arg(call, 2).len + RECORD_HEADER_LEN + record.value.len + PLACE_BYTES));
    else
        reply_null(call);
}
