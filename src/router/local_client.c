/*
 * CLIENT: a client's questions about itself and the others. LIST walks through all workers, each
 * adding its own clients, and comes back to the one that was asked.
 */
#include "router/local.h"
#include "router/transaction.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void describe(const struct client *client, struct buffer *out)
{
    char peer[IO_ADDRESS_LEN_MAX], own[IO_ADDRESS_LEN_MAX];
    uint64_t now = io_now_ms(client->worker->loop);
    io_peer_address(client->conn, peer);
    io_own_address(client->conn, own);
    buffer_printf(
        out,
        "id=%" PRIu64 " addr=%s laddr=%s fd=0 name=%s age=%" PRIu64 " idle=%" PRIu64
        " flags=N db=0 sub=0 psub=0 multi=%d qbuf=%zu obl=%zu cmd=%s user=default resp=%d "
        "lib-name=%s lib-ver=%s pool=%s worker=%u waiting=%u\n",
        client->id, peer, own, client->name, (now - client->connected_ms) / 1000,
        (now - client->last_ms) / 1000, transaction_length(client), client->in.len, client->out.len,
        client->last_command ? client->last_command->name : "NULL", client->protocol,
        client->lib_name, client->lib_version, client->pool->settings->name, client->worker->index,
        client->queued);
}

static void reply_buffer(struct client *client, const struct buffer *text)
{
    struct buffer *out = client_reply(client);
    if (out)
        resp_write_bulk(out, buffer_bytes(text), text->len);
    client_replied(client);
}

/* ---- LIST: a walk through the workers -----------------------------------------------------------
 */

struct client_list {
    struct worker *asked;
    struct request *request; /* the promise of the reply; its client may be gone by then */
    struct buffer text;
};

static void list_clients(struct worker *worker, void *context)
{
    struct client_list *listing = context;
    list_for_each (entry, &worker->clients)
        describe(list_entry(entry, struct client, in_worker), &listing->text);
}

/* Back on the asking worker's loop. */
static void answer_list(void *context)
{
    struct client_list *listing = context;
    struct buffer reply = BUFFER_INIT;
    if (resp_write_bulk(&reply, buffer_bytes(&listing->text), listing->text.len))
        request_answer(listing->asked, listing->request, buffer_bytes(&reply), reply.len);
    else
        request_fail(listing->asked, listing->request, "ERR out of memory");
    buffer_release(&reply);
    buffer_release(&listing->text);
    free(listing);
}

static void list_done(void *context)
{
    struct client_list *listing = context;
    io_post(listing->asked->loop, answer_list, listing);
}

static void list_all(struct client *client, const struct parsed *parsed)
{
    struct client_list *listing = calloc(1, sizeof *listing);
    struct request *request = request_borrow(client->worker, client, REQUEST_RELAY);
    if (!listing || !request) {
        free(listing);
        if (request)
            request_return(client->worker, request);
        client_error(client, "ERR out of memory");
        return;
    }
    listing->asked = client->worker;
    listing->request = request;
    request->len = parsed->request->length;
    request->in_flight = true;
    client_enqueue(client, request);
    if (router_visit(client->worker->router, list_clients, list_done, listing) < 0) {
        free(listing);
        request_fail(client->worker, request, "ERR out of memory");
    }
}

/* ---- the others --------------------------------------------------------------------------------
 */

static void reply_integer(struct client *client, int64_t number)
{
    struct buffer *out = client_reply(client);
    if (out)
        resp_write_integer(out, number);
    client_replied(client);
}

static void reply_result(struct client *client, const char *error)
{
    if (error)
        client_error(client, error);
    else
        client_ok(client);
}

static void get_name(struct client *client, const struct parsed *parsed)
{
    struct buffer *out = client_reply(client);
    if (out && client->name[0])
        resp_write_bulk_text(out, client->name);
    else if (out)
        resp_write_null(out, client->protocol);
    client_replied(client);
}

static void get_id(struct client *client, const struct parsed *parsed)
{
    reply_integer(client, (int64_t)client->id);
}

static void info(struct client *client, const struct parsed *parsed)
{
    struct buffer text = BUFFER_INIT;
    describe(client, &text);
    reply_buffer(client, &text);
    buffer_release(&text);
}

static void set_own_name(struct client *client, const struct parsed *parsed)
{
    reply_result(client, set_name(client->name, parsed_arg(parsed, 2)));
}

static void set_info(struct client *client, const struct parsed *parsed)
{
    struct slice attribute = parsed_arg(parsed, 2), value = parsed_arg(parsed, 3);
    if (word_is(attribute, "LIB-NAME"))
        reply_result(client, set_name(client->lib_name, value));
    else if (word_is(attribute, "LIB-VER"))
        reply_result(client, set_name(client->lib_version, value));
    else
        client_error(client, "ERR Unrecognized option for CLIENT SETINFO: LIB-NAME or LIB-VER");
}

/* Nothing here is evicted or touched, so there is nothing to turn off. */
static void accept_setting(struct client *client, const struct parsed *parsed)
{
    client_ok(client);
}

static void reply_mode(struct client *client, const struct parsed *parsed)
{
    if (word_is(parsed_arg(parsed, 2), "ON"))
        client_ok(client);
    else
        client_error(client, "ERR CLIENT REPLY knows only ON through the router");
}

static const struct {
    const char *name;
    uint32_t args_min, args_max; /* CLIENT and its subcommand included */
    void (*run)(struct client *client, const struct parsed *parsed);
} subcommands[] = {
    {"ID", 2, 2, get_id},
    {"GETNAME", 2, 2, get_name},
    {"SETNAME", 3, 3, set_own_name},
    {"SETINFO", 4, 4, set_info},
    {"INFO", 2, 2, info},
    {"LIST", 2, UINT32_MAX, list_all},
    {"NO-EVICT", 3, 3, accept_setting},
    {"NO-TOUCH", 3, 3, accept_setting},
    {"REPLY", 3, 3, reply_mode},
};

void client_command(struct client *client, const struct parsed *parsed)
{
    uint32_t count = parsed_arg_count(parsed);
    struct slice name = parsed_arg(parsed, 1);
    char text[64];
    for (size_t i = 0; i < sizeof subcommands / sizeof subcommands[0]; i++) {
        if (!word_is(name, subcommands[i].name))
            continue;
        if (count < subcommands[i].args_min || count > subcommands[i].args_max)
            client_errorf(client, "ERR wrong number of arguments for 'client|%s' command",
                          printable(name, text, sizeof text));
        else
            subcommands[i].run(client, parsed);
        return;
    }
    client_errorf(client, "ERR CLIENT %s is not available through the router",
                  printable(name, text, sizeof text));
}
