/*
 * INFO. Its fields are named as Redis names them where there is such a thing, so that whoever asks
 * a node about itself need not know of which kind it is; redis_version is the one whose answers the
 * commands follow. run_id is another one after each start; cw_incarnation stays as long as the data
 * does: a node that comes back with a new one has come back empty.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "store/handlers.h"

enum { INFO_SIZE = 2048 };

struct info {
    const struct engine *engine;
    char text[INFO_SIZE];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void add(struct info *info, const char *format, ...)
{
    va_list args;
    size_t room = sizeof info->text - info->len;
    va_start(args, format);
    int len = vsnprintf(info->text + info->len, room, format, args);
    va_end(args);
    info->len += len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}

static void add_server(struct info *info)
{
    const struct engine *engine = info->engine;
    add(info,
        "# Server\r\nredis_version:7.0.15\r\nclockwise_version:%s\r\nnode_id:%s\r\n"
        "run_id:%s\r\ncw_incarnation:%s\r\n",
        engine_version, engine->id, engine->run_id, engine->keyspace.store->incarnation);
}

static void add_memory(struct info *info)
{
    const struct store_usage *usage = &info->engine->keyspace.usage;
    add(info,
        "# Memory\r\nused_memory:%" PRIu64 "\r\nmaxmemory:%" PRIu64
        "\r\nmaxmemory_policy:noeviction\r\n",
        usage->used_bytes, usage->size_max);
}

static void add_persistence(struct info *info)
{
    add(info, "# Persistence\r\nloading:0\r\n");
}

static void add_store(struct info *info)
{
    const struct engine *engine = info->engine;
    const struct store_usage *usage = &engine->keyspace.usage;
    add(info,
        "# Store\r\nused_bytes:%" PRIu64 "\r\nsize_max_bytes:%" PRIu64 "\r\nmarks:%" PRIu64
        "\r\nmarks_bytes:%" PRIu64 "\r\n",
        usage->used_bytes, usage->size_max, engine->marks.count, engine->marks.bytes);
}

static void add_stats(struct info *info)
{
    const struct engine *engine = info->engine;
    add(info,
        "# Stats\r\ntotal_commands_processed:%" PRIu64 "\r\ncommits:%" PRIu64
        "\r\nexpired_keys:%" PRIu64 "\r\nwrite_errors:%" PRIu64 "\r\n",
        engine->commands, engine->keyspace.commits, engine->expired_keys, engine->write_errors);
}

static void add_replication(struct info *info)
{
    add(info, "# Replication\r\nrole:master\r\nconnected_slaves:0\r\n");
}

static void add_keyspace(struct info *info)
{
    add(info, "# Keyspace\r\ndb0:keys=%" PRIu64 "\r\n", info->engine->keyspace.usage.key_count);
}

static const struct section {
    const char *name;
    void (*add)(struct info *info);
} sections[] = {
    {"server", add_server},     {"memory", add_memory}, {"persistence", add_persistence},
    {"store", add_store},       {"stats", add_stats},   {"replication", add_replication},
    {"keyspace", add_keyspace},
};

static bool is_wanted(const struct call *call, const char *section)
{
    for (uint32_t i = 1; i < arg_count(call); i++)
        if (arg_is(call, i, section) || arg_is(call, i, "all") || arg_is(call, i, "default") ||
            arg_is(call, i, "everything"))
            return true;
    return arg_count(call) == 1;
}

void cmd_info(struct call *call)
{
    struct info info = {.engine = call->engine};
    for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
        if (is_wanted(call, sections[i].name))
            sections[i].add(&info);
    reply_bulk(call, (struct slice){info.text, info.len});
}
