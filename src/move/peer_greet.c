/*
 * What a peer says first on a connection: who it is, and "what is my id, who are you, do you
 * answer". If the connection before it broke with calls under way, it is killed before any call is
 * sent: only the node knows whether it still holds commands of it.
 *
 * A node counts its connections anew when it is started. So the old id says nothing to a node with
 * another run id: there the old connection has gone with the old process, and killing by that id
 * would hit somebody else.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "move/answer.h"
#include "move/peer_internal.h"
#include "move/refusal.h"

static bool write_words(struct buffer *out, const char *const *words, size_t count)
{
    bool fine = resp_write_array(out, count);
    for (size_t i = 0; i < count; i++)
        fine = fine && resp_write_bulk_text(out, words[i]);
    return fine;
}

static void expect(struct peer *peer, enum peer_greeting greeting)
{
    peer->greetings[(peer->greeting_at + peer->greeting_count++) % PEER_GREETINGS_MAX] = greeting;
}

static bool write_auth(struct peer *peer)
{
    const char *const words[] = {"AUTH", peer->username ? peer->username : peer->password,
                                 peer->password};
    if (!peer->password)
        return true;
    expect(peer, GREETING_AUTH);
    return write_words(&peer->greeting, words, peer->username ? 3 : 2);
}

bool peer_greet(struct peer *peer)
{
    const char *const setname[] = {"CLIENT", "SETNAME", peer->client_name};
    const char *const id[] = {"CLIENT", "ID"};
    const char *const info[] = {"INFO", "server"};
    const char *const ping[] = {"PING"};
    peer->state = PEER_GREETING;
    peer->greeting_at = peer->greeting_count = 0;
    peer->client_id = 0;
    peer->run_id[0] = '\0';
    if (!write_auth(peer))
        return false;
    expect(peer, GREETING_SETNAME);
    expect(peer, GREETING_ID);
    expect(peer, GREETING_INFO);
    expect(peer, GREETING_PING);
    return write_words(&peer->greeting, setname, 3) && write_words(&peer->greeting, id, 2) &&
           write_words(&peer->greeting, info, 2) && write_words(&peer->greeting, ping, 1);
}

void peer_remember_old(struct peer *peer)
{
    if (peer->state != PEER_READY || peer->count == 0)
        return;
    peer->old_client_id = peer->client_id;
    memcpy(peer->old_run_id, peer->run_id, sizeof peer->old_run_id);
}

/* Finds the line "run_id:..." in what INFO says. */
static void read_run_id(struct peer *peer, const char *reply, size_t len)
{
    static const char name[] = "\nrun_id:";
    const char *found = memmem(reply, len, name, sizeof name - 1);
    if (!found)
        return;
    const char *from = found + sizeof name - 1;
    size_t id_len = 0;
    while (from + id_len < reply + len && (unsigned char)from[id_len] > ' ')
        id_len++;
    if (id_len < sizeof peer->run_id) {
        memcpy(peer->run_id, from, id_len);
        peer->run_id[id_len] = '\0';
    }
}

static bool is_same_process(const struct peer *peer)
{
    return !peer->run_id[0] || !peer->old_run_id[0] || strcmp(peer->run_id, peer->old_run_id) == 0;
}

static bool write_kill(struct peer *peer)
{
    char id[24];
    const char *const words[] = {"CLIENT", "KILL", "ID", id};
    snprintf(id, sizeof id, "%" PRId64, peer->old_client_id);
    expect(peer, GREETING_KILL);
    return write_words(&peer->greeting, words, 4);
}

/* All that was asked is answered: the old connection is next, or we are done. */
static bool go_on(struct peer *peer)
{
    if (peer->greeting_count > 0)
        return true;
    if (peer->old_client_id && !peer->spares_old && is_same_process(peer))
        return write_kill(peer);
    peer->old_client_id = 0;
    peer->state = PEER_READY;
    return true;
}

static const char *quote(const char *what, const char *reply, size_t len, char *text, size_t size)
{
    struct slice error = {reply + 1, 0};
    answer_is_error(reply, len, &error);
    const char *remedy = refusal_remedy(error);
    snprintf(text, size, "%s: %.*s%s%s", what, (int)(error.len < 120 ? error.len : 120), error.ptr,
             remedy ? "; " : "", remedy ? remedy : "");
    return text;
}

/* Whether a reply to CLIENT KILL says that the old connection is no more. */
static bool is_killed(const char *reply, size_t len)
{
    static const char none[] = "-ERR No such client";
    return reply[0] == ':' || reply[0] == '+' ||
           (len >= sizeof none - 1 && strncmp(reply, none, sizeof none - 1) == 0);
}

const char *peer_remedy(const struct peer *peer)
{
    return peer->state == PEER_CONNECTING ? "; start it, or correct its address"
           : peer->state == PEER_GREETING ? "; look whether a Redis server listens there"
                                          : "";
}

const char *peer_greeted(struct peer *peer, const char *reply, size_t len, char *text, size_t size)
{
    struct resp_value value = {0};
    enum peer_greeting greeting = peer->greetings[peer->greeting_at % PEER_GREETINGS_MAX];
    if (peer->greeting_count == 0)
        return "answered what was not asked";
    peer->greeting_at++;
    peer->greeting_count--;
    switch (greeting) {
    case GREETING_AUTH:
    case GREETING_PING:
        if (reply[0] == '-')
            return quote("refuses us", reply, len, text, size);
        break;
    case GREETING_ID:
        if (resp_read_value(reply, len, &value) != RESP_DONE || value.type != ':')
            return quote("does not answer CLIENT ID, without which a late command can't be stopped",
                         reply, len, text, size);
        peer->client_id = value.integer;
        break;
    case GREETING_INFO: read_run_id(peer, reply, len); break;
    case GREETING_SETNAME: break;
    case GREETING_KILL:
        if (!is_killed(reply, len))
            return quote("does not end our earlier connection (CLIENT KILL ID)", reply, len, text,
                         size);
        peer->old_client_id = 0;
        break;
    }
    return go_on(peer) ? NULL : "cannot be greeted: out of memory";
}
