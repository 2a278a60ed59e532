/*
 * COMMAND: the command table, told to clients in the shapes of Redis: all rows, some, their names,
 * their documentation, or where the keys of a given command are. Commands that this pool refuses
 * are left out, so that a client that asks does not offer them.
 */
#include "router/local.h"

#include <stdio.h>
#include <string.h>

static bool is_offered(const struct client *client, const struct command *command)
{
    if (command->route == COMMAND_REFUSED)
        return false;
    return client->pool->settings->engine != ENGINE_EMBEDDED || command->route == COMMAND_LOCAL ||
           (command->flags & COMMAND_EMBEDDED);
}

static void write_lower(struct buffer *out, const char *name)
{
    char lower[64];
    size_t len = strlen(name);
    if (len > sizeof lower)
        len = sizeof lower;
    for (size_t i = 0; i < len; i++)
        lower[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] | 0x20) : name[i];
    resp_write_bulk(out, lower, len);
}

static void write_flags(struct buffer *out, const struct command *command, int protocol)
{
    static const struct {
        uint16_t flag;
        const char *name;
    } names[] = {
        {COMMAND_READ, "readonly"},   {COMMAND_WRITE, "write"}, {COMMAND_FAST, "fast"},
        {COMMAND_DENYOOM, "denyoom"}, {COMMAND_ADMIN, "admin"}, {COMMAND_BLOCKING, "blocking"},
    };
    size_t count = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        count += (command->flags & names[i].flag) != 0;
    resp_write_set(out, count, protocol);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (command->flags & names[i].flag)
            resp_write_simple(out, names[i].name);
}

/* A row in the form of Redis 7: name, arity, flags, first key, last key, step, and four lists that
 * are empty here (categories, tips, key specifications, subcommands). */
static void write_row(struct buffer *out, const struct command *command, int protocol)
{
    bool is_range = command->keys == KEYS_RANGE;
    bool has_first = is_range || command->keys == KEYS_SORT || command->keys == KEYS_GEO;
    resp_write_array(out, 10);
    write_lower(out, command->name);
    resp_write_integer(out, command->arity);
    write_flags(out, command, protocol);
    resp_write_integer(out, is_range ? command->first : has_first);
    resp_write_integer(out, is_range ? command->last : has_first);
    resp_write_integer(out, is_range ? command->step : has_first);
    for (int i = 0; i < 4; i++)
        resp_write_array(out, 0);
}

static void write_docs(struct buffer *out, const struct command *command, int protocol)
{
    write_lower(out, command->name);
    resp_write_map(out, 3, protocol);
    resp_write_bulk_text(out, "summary");
    resp_write_bulk_text(out, command->summary);
    resp_write_bulk_text(out, "since");
    resp_write_bulk_text(out, command->since);
    resp_write_bulk_text(out, "group");
    resp_write_bulk_text(out, command->group);
}

static size_t count_offered(const struct client *client)
{
    size_t count = 0;
    for (int id = 0; id < COMMAND_COUNT; id++)
        count += is_offered(client, command_by_id((enum command_id)id));
    return count;
}

/* ---- the forms of COMMAND
 * ------------------------------------------------------------------------ */

static void write_all(struct client *client, const struct parsed *parsed, struct buffer *out)
{
    resp_write_array(out, count_offered(client));
    for (int id = 0; id < COMMAND_COUNT; id++) {
        const struct command *command = command_by_id((enum command_id)id);
        if (is_offered(client, command))
            write_row(out, command, client->protocol);
    }
}

static void write_count(struct client *client, const struct parsed *parsed, struct buffer *out)
{
    resp_write_integer(out, (int64_t)count_offered(client));
}

static void write_list(struct client *client, const struct parsed *parsed, struct buffer *out)
{
    resp_write_array(out, count_offered(client));
    for (int id = 0; id < COMMAND_COUNT; id++) {
        const struct command *command = command_by_id((enum command_id)id);
        if (is_offered(client, command))
            write_lower(out, command->name);
    }
}

static const struct command *find_offered(const struct client *client, struct slice name)
{
    const struct command *command = command_find(name.ptr, name.len);
    return command && is_offered(client, command) ? command : NULL;
}

static void write_info(struct client *client, const struct parsed *parsed, struct buffer *out)
{
    uint32_t count = parsed_arg_count(parsed);
    if (count == 2) {
        write_all(client, parsed, out);
        return;
    }
    resp_write_array(out, count - 2);
    for (uint32_t i = 2; i < count; i++) {
        const struct command *command = find_offered(client, parsed_arg(parsed, i));
        if (command)
            write_row(out, command, client->protocol);
        else
            resp_write_null_array(out, client->protocol);
    }
}

static void write_some_docs(struct client *client, const struct parsed *parsed, struct buffer *out)
{
    uint32_t count = parsed_arg_count(parsed);
    size_t found = 0;
    for (uint32_t i = 2; i < count; i++)
        found += find_offered(client, parsed_arg(parsed, i)) != NULL;
    resp_write_map(out, found, client->protocol);
    for (uint32_t i = 2; i < count; i++) {
        const struct command *command = find_offered(client, parsed_arg(parsed, i));
        if (command)
            write_docs(out, command, client->protocol);
    }
}

static void write_all_docs(struct client *client, const struct parsed *parsed, struct buffer *out)
{
    if (parsed_arg_count(parsed) > 2) {
        write_some_docs(client, parsed, out);
        return;
    }
    resp_write_map(out, count_offered(client), client->protocol);
    for (int id = 0; id < COMMAND_COUNT; id++) {
        const struct command *command = command_by_id((enum command_id)id);
        if (is_offered(client, command))
            write_docs(out, command, client->protocol);
    }
}

/* The command inside `COMMAND GETKEYS name arg …`, as a request of its own. */
static void write_keys(struct client *client, const struct parsed *parsed, struct buffer *out)
{
    struct resp_request inner = *parsed->request;
    struct command_key_range keys = {0};
    const struct command *command = inner.arg_count > 2
                                        ? find_offered(client, parsed_arg(parsed, 2))
                                        : NULL;
    inner.args += 2;
    inner.arg_count -= 2;
    if (!command || !command_arity_fits(command, inner.arg_count)) {
        resp_write_error(out, "ERR Invalid command specified");
        return;
    }
    const char *reason = command->route == COMMAND_KEYED
                             ? command_find_keys(command, &inner, parsed->bytes, &keys)
                             : NULL;
    uint32_t count = keys.count + (keys.extra ? 1 : 0);
    if (reason || count == 0) {
        resp_write_errorf(out, "ERR %s", reason ? reason : "The command has no key arguments");
        return;
    }
    resp_write_array(out, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t arg = i < keys.count ? keys.first + i * keys.step : keys.extra;
        struct slice key = resp_request_arg(&inner, parsed->bytes, arg);
        resp_write_bulk(out, key.ptr, key.len);
    }
}

static const struct {
    const char *name;
    void (*write)(struct client *client, const struct parsed *parsed, struct buffer *out);
} forms[] = {
    {"COUNT", write_count},   {"INFO", write_info},    {"LIST", write_list},
    {"DOCS", write_all_docs}, {"GETKEYS", write_keys},
};

void command_command(struct client *client, const struct parsed *parsed)
{
    struct buffer *out;
    if (parsed_arg_count(parsed) == 1) {
        out = client_reply(client);
        if (out)
            write_all(client, parsed, out);
        client_replied(client);
        return;
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (!word_is(parsed_arg(parsed, 1), forms[i].name))
            continue;
        out = client_reply(client);
        if (out)
            forms[i].write(client, parsed, out);
        client_replied(client);
        return;
    }
    client_error(client, "ERR COMMAND knows COUNT, DOCS, GETKEYS, INFO and LIST here");
}
