/*
 * Clients that count what was acknowledged. Each has keys of its own, so that it knows what every
 * reply must be; a key of which a write failed, or whose connection was cut under a write, is given
 * up, and a fresh one takes its place: nobody knows what it holds.
 */
#ifndef TESTS_MOVE_COUNTING_CLIENT_H
#define TESTS_MOVE_COUNTING_CLIENT_H

#include "move/transition_world.h"

enum { MOVE_CLIENT_KEYS = 120, MOVE_CLIENT_DEPTH = 6, MOVE_CLIENT_ASKED = 8 };

/* What a key of a client is: its number modulo these. */
enum move_key_kind { MOVE_COUNTER, MOVE_TEXT, MOVE_LIST, MOVE_HASH, MOVE_KEY_KINDS };

struct move_key {
    uint32_t epoch;     /* part of its name: grows when it is given up */
    int64_t value;      /* counter; number last set; elements; sum of the field; 0: no key */
    uint32_t under_way; /* requests */
    bool is_given_up;
    bool is_watched; /* nothing else is asked of it meanwhile */
};

struct move_asked {
    uint32_t key;
    bool is_write;
    char type;        /* of the reply: ':' '+' '$' */
    int64_t expected; /* -1: null */
    /* of a transaction: what its first write answers, and the replies that come before EXEC's */
    bool is_transaction, is_watched;
    int64_t first_expected;
    uint32_t before;
};

struct move_client {
    uint32_t number;
    struct io_loop *loop;
    struct io_conn *conn;
    struct io_timer *timer;
    struct random random;
    struct buffer in, out;
    struct resp_scanner scanner;
    bool transacts;
    bool is_connected, is_stopped; /* stopped: asks nothing more */
    struct move_asked asked[MOVE_CLIENT_ASKED];
    uint32_t first, under_way;
    struct move_key keys[MOVE_CLIENT_KEYS];
    uint64_t checked, writes, errors, cuts, transactions, nils;
    char wrong[320];
};

static inline void move_key_name(const struct move_client *client, uint32_t key,
                                 char text[static 48])
{
    snprintf(text, 48, "c%u.%u.%u", client->number, key, client->keys[key].epoch);
}

/* The n-th write of a hash adds one to the field n modulo so many. */
enum { MOVE_FIELDS = 16 };

static inline void move_field_name(int64_t number, char text[static 16])
{
    snprintf(text, 16, "f%d", (int)(number % MOVE_FIELDS));
}

/* What that field holds then. */
static inline int64_t move_field_value(int64_t number)
{
    return number > 0 ? (number - 1) / MOVE_FIELDS + 1 : -1;
}

static inline enum move_key_kind move_key_kind(uint32_t key)
{
    return (enum move_key_kind)(key % MOVE_KEY_KINDS);
}

static inline void move_client_wrong(struct move_client *client, uint32_t key, const char *what,
                                     const char *reply, size_t len)
{
    char name[48];
    move_key_name(client, key, name);
    if (!client->wrong[0])
        snprintf(client->wrong, sizeof client->wrong, "%s: %s: %.*s", name, what,
                 (int)(len < 200 ? len : 200), reply);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static inline void move_ask_words(struct move_client *client, const char *const *words)
{
    uint32_t count = 0;
    while (words[count])
        count++;
    resp_write_array(&client->out, count);
    for (uint32_t i = 0; i < count; i++)
        resp_write_bulk_text(&client->out, words[i]);
}

static inline void move_write_key(struct move_client *client, struct move_asked *asked,
                                  struct move_key *key, const char *name)
{
    char number[24], field[16];
    asked->type = ':';
    asked->expected = ++key->value;
    move_field_name(key->value, field);
    switch (move_key_kind(asked->key)) {
    case MOVE_COUNTER: move_ask_words(client, (const char *[]){"INCR", name, NULL}); break;
    case MOVE_TEXT:
        asked->type = '+';
        snprintf(number, sizeof number, "%" PRId64, key->value);
        move_ask_words(client, (const char *[]){"SET", name, number, NULL});
        break;
    case MOVE_LIST: move_ask_words(client, (const char *[]){"RPUSH", name, "element", NULL}); break;
    default:
        asked->expected = move_field_value(key->value);
        move_ask_words(client, (const char *[]){"HINCRBY", name, field, "1", NULL});
    }
}

static inline void move_read_key(struct move_client *client, struct move_asked *asked,
                                 const struct move_key *key, const char *name)
{
    bool is_list = move_key_kind(asked->key) == MOVE_LIST;
    bool is_hash = move_key_kind(asked->key) == MOVE_HASH;
    char field[16];
    move_field_name(key->value, field);
    asked->is_write = false;
    asked->type = is_list ? ':' : '$';
    asked->expected = is_list || key->value ? key->value : -1;
    if (is_hash)
        asked->expected = move_field_value(key->value);
    if (is_list)
        move_ask_words(client, (const char *[]){"LLEN", name, NULL});
    else if (is_hash)
        move_ask_words(client, (const char *[]){"HGET", name, field, NULL});
    else
        move_ask_words(client, (const char *[]){"GET", name, NULL});
}

static inline void move_delete_key(struct move_client *client, struct move_asked *asked,
                                   struct move_key *key, const char *name)
{
    asked->type = ':';
    asked->expected = key->value > 0;
    key->value = 0;
    move_ask_words(client, (const char *[]){"DEL", name, NULL});
}

/* Two writes that are done together. Under WATCH they may be refused, by nil, and then count as
 * nothing. */
static inline void move_transact(struct move_client *client, struct move_asked *asked,
                                 struct move_key *key, const char *name)
{
    asked->is_transaction = true;
    asked->is_watched = key->is_watched = key->under_way == 0 && random_below(&client->random, 2);
    asked->before = asked->is_watched ? 4 : 3;
    if (asked->is_watched)
        move_ask_words(client, (const char *[]){"WATCH", name, NULL});
    move_ask_words(client, (const char *[]){"MULTI", NULL});
    move_write_key(client, asked, key, name);
    asked->first_expected = asked->expected;
    move_write_key(client, asked, key, name);
    move_ask_words(client, (const char *[]){"EXEC", NULL});
}

static inline void move_ask(struct move_client *client)
{
    char name[48];
    struct move_asked *asked =
        &client->asked[(client->first + client->under_way) % MOVE_CLIENT_ASKED];
    asked->key = (uint32_t)random_below(&client->random, MOVE_CLIENT_KEYS);
    struct move_key *key = &client->keys[asked->key];
    if ((key->is_given_up && key->under_way) || key->is_watched)
        return;
    if (key->is_given_up)
        *key = (struct move_key){.epoch = key->epoch + 1};
    move_key_name(client, asked->key, name);
    asked->is_write = true;
    asked->is_transaction = asked->is_watched = false;
    asked->before = 0;
    uint64_t choice = random_below(&client->random, 100);
    if (choice < 55)
        move_write_key(client, asked, key, name);
    else if (choice < 62)
        move_delete_key(client, asked, key, name);
    else if (choice < 72 && client->transacts)
        move_transact(client, asked, key, name);
    else
        move_read_key(client, asked, key, name);
    key->under_way++;
    client->under_way++;
}

static inline void move_client_flush(struct move_client *client)
{
    while (client->conn && client->is_connected && client->out.len) {
        struct iovec part = {buffer_bytes(&client->out), client->out.len};
        ssize_t written = io_write(client->conn, &part, 1);
        if (written <= 0)
            return;
        buffer_take(&client->out, (size_t)written);
    }
}

/* ---- connecting ------------------------------------------------------------------------------ */

static inline void move_client_event(void *context, int events);

/* A write whose reply is lost may have happened or not. */
static inline void move_give_up(struct move_client *client, const struct move_asked *asked)
{
    if (asked->is_write)
        client->keys[asked->key].is_given_up = true;
}

static inline void move_client_cut(struct move_client *client)
{
    client->cuts++;
    for (; client->under_way; client->under_way--) {
        const struct move_asked *asked = &client->asked[client->first++ % MOVE_CLIENT_ASKED];
        move_give_up(client, asked);
        client->keys[asked->key].under_way--;
    }
    io_close(&client->conn);
    io_timer_start(client->timer, 5);
}

static inline void move_client_connect(struct move_client *client)
{
    client->is_connected = false;
    client->first = client->under_way = 0;
    buffer_clear(&client->in);
    buffer_clear(&client->out);
    resp_scanner_init(&client->scanner);
    if (io_connect(client->loop, "router:7400", move_client_event, client, &client->conn) < 0)
        io_timer_start(client->timer, 10);
}

/* ---- checking -------------------------------------------------------------------------------- */

static inline bool move_is_right(const struct move_asked *asked, const char *reply, size_t len)
{
    struct resp_value value;
    int64_t number;
    if (resp_read_value(reply, len, &value) != RESP_DONE || value.type != asked->type)
        return false;
    if (asked->type == '+')
        return true;
    if (asked->type == ':')
        return value.integer == asked->expected;
    if (asked->expected < 0)
        return value.is_null;
    return !value.is_null && resp_parse_integer(value.text, &number) && number == asked->expected;
}

static inline bool move_is_transaction_right(const struct move_asked *asked, const char *reply,
                                             size_t len)
{
    struct resp_value head, first;
    struct move_asked first_asked = *asked;
    first_asked.expected = asked->first_expected;
    if (resp_read_value(reply, len, &head) != RESP_DONE || head.type != '*' || head.is_null ||
        head.integer != 2 ||
        resp_read_value(reply + head.head_len, len - head.head_len, &first) != RESP_DONE)
        return false;
    size_t second = head.head_len + first.head_len;
    return move_is_right(&first_asked, reply + head.head_len, first.head_len) &&
           move_is_right(asked, reply + second, len - second);
}

/* A reply to WATCH, to MULTI or to what is between it and EXEC. WATCH alone asks the node. */
static inline void move_take_reply_before(struct move_client *client, struct move_asked *asked,
                                          const char *reply, size_t len)
{
    const char *wanted = asked->before < 3 ? "+QUEUED" : "+OK";
    asked->before--;
    if (asked->before == 3 && strncmp(reply, "-NODEDOWN", 9) == 0)
        client->errors++;
    else if (strncmp(reply, wanted, strlen(wanted)) != 0)
        move_client_wrong(client, asked->key, "a wrong reply before EXEC", reply, len);
}

/* What the transaction would have done is not done. */
static inline void move_take_nil(struct move_client *client, struct move_key *key)
{
    key->value -= 2;
    client->nils++;
}

static inline void move_take_reply(struct move_client *client, const char *reply, size_t len)
{
    struct move_asked *asked = &client->asked[client->first % MOVE_CLIENT_ASKED];
    struct move_key *key = &client->keys[asked->key];
    CW_ASSERT(client->under_way > 0);
    if (asked->before) {
        move_take_reply_before(client, asked, reply, len);
        return;
    }
    client->first++;
    client->under_way--;
    key->under_way--;
    client->checked++;
    if (asked->is_watched)
        key->is_watched = false;
    if (reply[0] == '-') {
        client->errors++;
        move_give_up(client, asked);
        if (strncmp(reply, "-NODEDOWN", 9) != 0 && !key->is_given_up)
            move_client_wrong(client, asked->key, "an error", reply, len);
    } else if (asked->is_watched && strncmp(reply, "*-1", 3) == 0) {
        move_take_nil(client, key);
    } else if (!key->is_given_up) {
        client->writes += asked->is_write;
        client->transactions += asked->is_transaction;
        if (!(asked->is_transaction ? move_is_transaction_right(asked, reply, len)
                                    : move_is_right(asked, reply, len)))
            move_client_wrong(client, asked->key, "a wrong reply", reply, len);
    }
}

static inline void move_client_read(struct move_client *client)
{
    char bytes[2048];
    ssize_t got = io_read(client->conn, bytes, sizeof bytes);
    if (got == -EAGAIN)
        return;
    if (got <= 0) {
        move_client_cut(client);
        return;
    }
    buffer_append(&client->in, bytes, (size_t)got);
    while (client->in.len && resp_scan(&client->scanner, buffer_bytes(&client->in), client->in.len,
                                       1 << 20) == RESP_DONE) {
        size_t len = client->scanner.position;
        resp_scanner_init(&client->scanner);
        move_take_reply(client, buffer_bytes(&client->in), len);
        buffer_take(&client->in, len);
    }
}

static inline void move_client_event(void *context, int events)
{
    struct move_client *client = context;
    if (events & IO_WRITABLE)
        client->is_connected = true;
    if (events & IO_READABLE)
        move_client_read(client);
    if (!client->conn)
        return;
    move_client_flush(client);
    io_timer_start(client->timer, 1);
}

static inline void move_client_timer(void *context)
{
    struct move_client *client = context;
    if (!client->conn) {
        move_client_connect(client);
        return;
    }
    while (client->is_connected && !client->is_stopped && client->under_way < MOVE_CLIENT_DEPTH &&
           random_below(&client->random, 3) != 0)
        move_ask(client);
    move_client_flush(client);
    io_timer_start(client->timer, 1 + random_below(&client->random, 4));
}

static inline void move_client_init(struct move_client *client, uint32_t number, uint64_t seed)
{
    *client = (struct move_client){.number = number, .random = {seed * 1000 + number}};
    CW_ASSERT(io_loop_create(&client->loop) == 0);
    CW_ASSERT(io_timer_create(client->loop, move_client_timer, client, &client->timer) == 0);
    move_client_connect(client);
}

static inline void move_client_fini(struct move_client *client)
{
    io_close(&client->conn);
    io_timer_destroy(&client->timer);
    io_loop_destroy(&client->loop);
    buffer_release(&client->in);
    buffer_release(&client->out);
}

#endif
