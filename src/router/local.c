/*
 * Commands that the router answers itself: what a client says to its connection, not to the data.
 * They are what today's client libraries send when they connect, so that none of them complains.
 */
#include "router/local.h"
#include "router/transaction.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool word_is(struct slice text, const char *word)
{
    return text.len == strlen(word) && strncasecmp(text.ptr, word, text.len) == 0;
}

void client_ok(struct client *client)
{
    struct buffer *out = client_reply(client);
    if (out)
        resp_write_simple(out, "OK");
    client_replied(client);
}

static void reply_bulk(struct client *client, struct slice text)
{
    struct buffer *out = client_reply(client);
    if (out)
        resp_write_bulk(out, text.ptr, text.len);
    client_replied(client);
}

/* ---- one function a command --------------------------------------------------------------------
 */

static void ping(struct client *client, const struct parsed *parsed)
{
    if (parsed_arg_count(parsed) > 2) {
        client_error(client, "ERR wrong number of arguments for 'ping' command");
        return;
    }
    if (parsed_arg_count(parsed) == 2) {
        reply_bulk(client, parsed_arg(parsed, 1));
        return;
    }
    struct buffer *out = client_reply(client);
    if (out)
        resp_write_simple(out, "PONG");
    client_replied(client);
}

static void echo(struct client *client, const struct parsed *parsed)
{
    reply_bulk(client, parsed_arg(parsed, 1));
}

static void quit(struct client *client, const struct parsed *parsed)
{
    client_ok(client);
    client_finish(client);
}

static void select_db(struct client *client, const struct parsed *parsed)
{
    int64_t number;
    if (!resp_parse_integer(parsed_arg(parsed, 1), &number))
        client_error(client, "ERR invalid DB index");
    else if (number != 0)
        client_error(client, "ERR DB index is out of range: the router serves database 0");
    else
        client_ok(client);
}

static void time_of_day(struct client *client, const struct parsed *parsed)
{
    char seconds[24], micros[24];
    uint64_t now_ms = io_wall_ms(client->worker->loop);
    snprintf(seconds, sizeof seconds, "%" PRIu64, now_ms / 1000);
    snprintf(micros, sizeof micros, "%" PRIu64, now_ms % 1000 * 1000);
    struct buffer *out = client_reply(client);
    if (out) {
        resp_write_array(out, 2);
        resp_write_bulk_text(out, seconds);
        resp_write_bulk_text(out, micros);
    }
    client_replied(client);
}

static void reset(struct client *client, const struct parsed *parsed)
{
    transaction_end(client);
    client->protocol = 2;
    client->name[0] = '\0';
    client->authenticated = client->pool->settings->client_password == NULL;
    struct buffer *out = client_reply(client);
    if (out)
        resp_write_simple(out, "RESET");
    client_replied(client);
}

static void readonly(struct client *client, const struct parsed *parsed)
{
    client_ok(client); /* every node is its keys' only owner: reads and writes go there */
}

static void lolwut(struct client *client, const struct parsed *parsed)
{
    static const char picture[] =
        "   12\n 9    3     clockwise: the first node clockwise from a key owns it\n   6\n";
    reply_bulk(client, (struct slice){picture, sizeof picture - 1});
}

static void role(struct client *client, const struct parsed *parsed)
{
    struct buffer *out = client_reply(client);
    if (out) {
        resp_write_array(out, 3);
        resp_write_bulk_text(out, "master");
        resp_write_integer(out, 0);
        resp_write_array(out, 0);
    }
    client_replied(client);
}

/* What benchmarks ask before they begin; of the rest CONFIG GET finds nothing. */
static const char *const settings_told[][2] = {{"save", ""}, {"appendonly", "no"}};

static void config(struct client *client, const struct parsed *parsed)
{
    const char *const *told = NULL;
    if (!word_is(parsed_arg(parsed, 1), "GET")) {
        client_error(client,
                     "ERR the router's configuration is its file; CONFIG knows only GET here");
        return;
    }
    for (size_t i = 0; parsed_arg_count(parsed) > 2 && i < 2; i++)
        if (word_is(parsed_arg(parsed, 2), settings_told[i][0]))
            told = settings_told[i];
    struct buffer *out = client_reply(client);
    if (out)
        resp_write_map(out, told ? 1 : 0, client->protocol);
    for (size_t i = 0; out && told && i < 2; i++)
        resp_write_bulk_text(out, told[i]);
    client_replied(client);
}

/* ---- who is it: AUTH and HELLO -----------------------------------------------------------------
 */

/* Compares all bytes, so that the time taken tells nothing about where the first difference is. */
static bool is_password(const struct client *client, struct slice text)
{
    const char *password = client->pool->settings->client_password;
    size_t len = strlen(password);
    unsigned char difference = text.len != len;
    for (size_t i = 0; i < text.len; i++)
        difference |= (unsigned char)(text.ptr[i] ^ password[len ? i % len : 0]);
    return difference == 0;
}

static const char *authenticate(struct client *client, struct slice user, struct slice password)
{
    if (!client->pool->settings->client_password)
        return "ERR AUTH was called, but this pool asks for no password (client_password)";
    if (!word_is(user, "default") || !is_password(client, password))
        return "WRONGPASS invalid username-password pair or user is disabled.";
    client->authenticated = true;
    return NULL;
}

static void auth(struct client *client, const struct parsed *parsed)
{
    uint32_t count = parsed_arg_count(parsed);
    struct slice user = {"default", 7};
    if (count > 3) {
        client_error(client, "ERR syntax error");
        return;
    }
    if (count == 3)
        user = parsed_arg(parsed, 1);
    const char *error = authenticate(client, user, parsed_arg(parsed, count - 1));
    if (error)
        client_error(client, error);
    else
        client_ok(client);
}

static bool copy_name(char *to, struct slice text)
{
    if (text.len > NAME_LEN_MAX)
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] <= ' ' || text.ptr[i] > '~')
            return false;
    memcpy(to, text.ptr, text.len);
    to[text.len] = '\0';
    return true;
}

const char *set_name(char *name, struct slice text)
{
    return copy_name(name, text) ? NULL
                                 : "ERR Client names cannot contain spaces, newlines or special "
                                   "characters, and are at most 64 bytes long.";
}

/* The options of HELLO. NULL, or the error. */
static const char *hello_options(struct client *client, const struct parsed *parsed)
{
    uint32_t count = parsed_arg_count(parsed);
    for (uint32_t i = 2; i < count; i++) {
        const char *error = NULL;
        struct slice option = parsed_arg(parsed, i);
        if (word_is(option, "AUTH") && i + 2 < count) {
            error = authenticate(client, parsed_arg(parsed, i + 1), parsed_arg(parsed, i + 2));
            i += 2;
        } else if (word_is(option, "SETNAME") && i + 1 < count) {
            error = set_name(client->name, parsed_arg(parsed, i + 1));
            i += 1;
        } else {
            error = "ERR Syntax error in HELLO";
        }
        if (error)
            return error;
    }
    return NULL;
}

static void write_hello(struct client *client, struct buffer *out)
{
    resp_write_map(out, 7, client->protocol);
    resp_write_bulk_text(out, "server");
    resp_write_bulk_text(out, "clockwise");
    resp_write_bulk_text(out, "version");
    resp_write_bulk_text(out, client->worker->router->options.version);
    resp_write_bulk_text(out, "proto");
    resp_write_integer(out, client->protocol);
    resp_write_bulk_text(out, "id");
    resp_write_integer(out, (int64_t)client->id);
    resp_write_bulk_text(out, "mode");
    resp_write_bulk_text(out, "standalone");
    resp_write_bulk_text(out, "role");
    resp_write_bulk_text(out, "master");
    resp_write_bulk_text(out, "modules");
    resp_write_array(out, 0);
}

static void hello(struct client *client, const struct parsed *parsed)
{
    int64_t protocol = client->protocol;
    if (parsed_arg_count(parsed) > 1 &&
        (!resp_parse_integer(parsed_arg(parsed, 1), &protocol) || protocol < 2 || protocol > 3)) {
        client_error(client, "NOPROTO unsupported protocol version");
        return;
    }
    const char *error = hello_options(client, parsed);
    if (!error && !client->authenticated)
        error = "NOAUTH HELLO must be called with the client already authenticated, otherwise the "
                "HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client";
    if (error) {
        client_error(client, error);
        return;
    }
    if (client->protocol != (int)protocol)
        watch_give_back(client); /* the other protocol has other connections */
    client->protocol = (int)protocol;
    struct buffer *out = client_reply(client);
    if (out)
        write_hello(client, out);
    client_replied(client);
}

/* ---- the table ---------------------------------------------------------------------------------
 */

typedef void (*local_function)(struct client *client, const struct parsed *parsed);

static const struct {
    enum command_id id;
    local_function run;
} local_commands[] = {
    {CMD_PING, ping},         {CMD_ECHO, echo},
    {CMD_QUIT, quit},         {CMD_SELECT, select_db},
    {CMD_TIME, time_of_day},  {CMD_RESET, reset},
    {CMD_READONLY, readonly}, {CMD_READWRITE, readonly},
    {CMD_LOLWUT, lolwut},     {CMD_ROLE, role},
    {CMD_CONFIG, config},     {CMD_AUTH, auth},
    {CMD_HELLO, hello},       {CMD_CLIENT, client_command},
    {CMD_INFO, info_command}, {CMD_COMMAND, command_command},
};

void local_command(struct client *client, const struct parsed *parsed)
{
    for (size_t i = 0; i < sizeof local_commands / sizeof local_commands[0]; i++) {
        if (local_commands[i].id == parsed->command->id) {
            local_commands[i].run(client, parsed);
            return;
        }
    }
    client_errorf(client, "ERR '%s' is not available through the router", parsed->command->name);
}
