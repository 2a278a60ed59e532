/* What is about the connection and the node, and not about keys. */
#include <inttypes.h>
#include <stdio.h>

#include <clockwise/clockwise.h>

#include "store/handlers.h"

#define TEXT_OF(number)       #number
#define VERSION_TEXT(a, b, c) TEXT_OF(a) "." TEXT_OF(b) "." TEXT_OF(c)

const char engine_version[] = VERSION_TEXT(CW_VERSION_MAJOR, CW_VERSION_MINOR, CW_VERSION_PATCH);

void cmd_ping(struct call *call)
{
    if (arg_count(call) > 2)
        reply_arity_error(call);
    else if (arg_count(call) == 2)
        reply_bulk(call, arg(call, 1));
    else
        reply_simple(call, "PONG");
}

void cmd_echo(struct call *call)
{
    reply_bulk(call, arg(call, 1));
}

void cmd_select(struct call *call)
{
    if (arg_is_db_zero(call, 1))
        reply_ok(call);
}

/* There are no passwords here; Redis without one answers the same. */
void cmd_auth(struct call *call)
{
    if (arg_count(call) > 3)
        reply_syntax_error(call);
    else
        reply_error(call, "ERR AUTH <password> called without any password configured for the "
                          "default user. Are you sure your configuration is correct?");
}

void cmd_quit(struct call *call)
{
    call->session->is_closing = true;
    reply_ok(call);
}

void cmd_reset(struct call *call)
{
    call->session->protocol = 2;
    call->session->name_len = 0;
    reply_simple(call, "RESET");
}

void cmd_time(struct call *call)
{
    char text[24];
    uint64_t now_ms = call->keyspace->now_ms;
    reply_array(call, 2);
    snprintf(text, sizeof text, "%" PRIu64, now_ms / 1000);
    reply_text(call, text);
    snprintf(text, sizeof text, "%" PRIu64, now_ms % 1000 * 1000);
    reply_text(call, text);
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool set_name(struct call *call, struct slice name)
{
    struct session *session = call->session;
    bool is_good = name.len <= SESSION_NAME_LEN_MAX;
    for (size_t i = 0; i < name.len && is_good; i++)
        is_good = name.ptr[i] >= '!' && name.ptr[i] <= '~';
    if (!is_good) {
        reply_error(call,
                    "ERR Client names cannot contain spaces, newlines or special characters.");
        return false;
    }
    session->name_len = (uint8_t)name.len;
    memcpy(session->name, name.ptr, name.len);
    return true;
}

static void client_setname(struct call *call)
{
    if (set_name(call, arg(call, 2)))
        reply_ok(call);
}

static void client_getname(struct call *call)
{
    if (call->session->name_len)
        reply_bulk(call, (struct slice){call->session->name, call->session->name_len});
    else
        reply_null(call);
}

static void client_id(struct call *call)
{
    reply_integer(call, (int64_t)call->session->id);
}

static void client_info(struct call *call)
{
    char text[160];
    struct session *session = call->session;
    snprintf(text, sizeof text, "id=%" PRIu64 " name=%.*s db=0 resp=%d\n", session->id,
             session->name_len, session->name, session->protocol);
    reply_text(call, text);
}

/* CLIENT KILL ID n. Nobody kills itself, as in Redis. */
static void client_kill(struct call *call)
{
    int64_t id;
    const struct engine *engine = call->engine;
    if (!arg_is(call, 2, "id")) {
        reply_syntax_error(call);
        return;
    }
    if (!resp_parse_integer(arg(call, 3), &id) || id <= 0) {
        reply_error(call, "ERR client-id should be greater than 0");
        return;
    }
    bool is_other = (uint64_t)id != call->session->id;
    reply_integer(call,
                  is_other && engine->kill && engine->kill(engine->kill_context, (uint64_t)id));
}

struct subcommand {
    const char *word;
    uint32_t args_min, args_max; /* with the command's own name */
    call_handler run;
};

static const struct subcommand client_subcommands[] = {
    {"id", 2, 2, client_id},
    {"getname", 2, 2, client_getname},
    {"setname", 3, 3, client_setname},
    {"kill", 4, 4, client_kill},
    {"info", 2, 2, client_info},
    {"list", 2, UINT32_MAX, client_info},
    /* What clients say about themselves at the start, and may say here without harm. */
    {"setinfo", 4, 4, reply_ok},
    {"no-evict", 3, 3, reply_ok},
    {"no-touch", 3, 3, reply_ok},
};

static void run_subcommand(struct call *call, const struct subcommand *subcommands, size_t count)
{
    char name[32];
    struct slice word = arg(call, 1);
    call_name(call, name, sizeof name);
    for (size_t i = 0; i < count; i++) {
        const struct subcommand *subcommand = &subcommands[i];
        if (!arg_is(call, 1, subcommand->word))
            continue;
        if (arg_count(call) < subcommand->args_min || arg_count(call) > subcommand->args_max)
            reply_errorf(call, "ERR wrong number of arguments for '%s|%s' command", name,
                         subcommand->word);
        else
            subcommand->run(call);
        return;
    }
    reply_errorf(call, "ERR unknown subcommand '%.*s'. Try %s HELP.",
                 (int)strnlen(word.ptr, word.len < 128 ? word.len : 128), word.ptr,
                 call->command->name);
}

void cmd_client(struct call *call)
{
    run_subcommand(call, client_subcommands,
                   sizeof client_subcommands / sizeof client_subcommands[0]);
}

/* ---- HELLO ----------------------------------------------------------------------------------- */

static bool read_protocol(struct call *call, int64_t *ret_protocol)
{
    if (!resp_parse_integer(arg(call, 1), ret_protocol)) {
        reply_error(call, "ERR Protocol version is not an integer or out of range");
        return false;
    }
    if (*ret_protocol == 2 || *ret_protocol == 3)
        return true;
    reply_error(call, "NOPROTO unsupported protocol version");
    return false;
}

/* AUTH is listened to and not acted upon: an embedded node has no passwords, as a Redis whose
 * default user needs none. */
static bool read_hello_options(struct call *call)
{
    for (uint32_t i = 2; i < arg_count(call); i++) {
        uint32_t more = arg_count(call) - 1 - i;
        struct slice word = arg(call, i);
        if (arg_is(call, i, "auth") && more >= 2) {
            i += 2;
        } else if (arg_is(call, i, "setname") && more >= 1) {
            if (!set_name(call, arg(call, ++i)))
                return false;
        } else {
            reply_errorf(call, "ERR Syntax error in HELLO option '%.*s'",
                         (int)strnlen(word.ptr, word.len), word.ptr);
            return false;
        }
    }
    return true;
}

void cmd_hello(struct call *call)
{
    int64_t protocol = call->session->protocol;
    if (arg_count(call) >= 2 && (!read_protocol(call, &protocol) || !read_hello_options(call)))
        return;
    call->session->protocol = (int)protocol;
    reply_map(call, 7);
    reply_text(call, "server");
    reply_text(call, "clockwise");
    reply_text(call, "version");
    reply_text(call, engine_version);
    reply_text(call, "proto");
    reply_integer(call, protocol);
    reply_text(call, "id");
    reply_integer(call, (int64_t)call->session->id);
    reply_text(call, "mode");
    reply_text(call, "embedded");
    reply_text(call, "role");
    reply_text(call, "master");
    reply_text(call, "modules");
    reply_array(call, 0);
}

/* ---- COMMAND --------------------------------------------------------------------------------- */

static int64_t count_served(void)
{
    int64_t count = 0;
    for (unsigned id = 0; id < COMMAND_COUNT; id++)
        count += call_is_served(command_by_id(id));
    return count;
}

static void commands_count(struct call *call)
{
    reply_integer(call, count_served());
}

static void commands_docs(struct call *call)
{
    reply_map(call, 0);
}

static void commands_list(struct call *call)
{
    reply_array(call, (size_t)count_served());
    for (unsigned id = 0; id < COMMAND_COUNT; id++)
        if (call_is_served(command_by_id(id)))
            reply_text(call, command_by_id(id)->name);
}

static const struct subcommand command_subcommands[] = {
    {"count", 2, 2, commands_count},
    {"docs", 2, UINT32_MAX, commands_docs},
    {"list", 2, UINT32_MAX, commands_list},
};

void cmd_command(struct call *call)
{
    if (arg_count(call) == 1)
        commands_list(call);
    else
        run_subcommand(call, command_subcommands,
                       sizeof command_subcommands / sizeof command_subcommands[0]);
}
