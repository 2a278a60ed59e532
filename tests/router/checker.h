/*
 * Clients that check the router: each keeps a model of what it wrote, and compares every reply with
 * it. After anything that leaves the fate of a write open (a cut, an error) it goes on with fresh
 * keys.
 */
#ifndef TESTS_ROUTER_CHECKER_H
#define TESTS_ROUTER_CHECKER_H

#include "router/fixture.h"

enum {
    CLIENTS = 4,
    KEYS = 12,      /* of a client at a time */
    DEPTH = 8,      /* requests under way */
    ASKED_MAX = 16, /* room for them: a power of two */
};

enum asked_kind { ASKED_SET, ASKED_GET, ASKED_MGET, ASKED_MSET, ASKED_DEL, ASKED_ECHO };

/* A request under way: what was asked, and what must come back. */
struct asked {
    enum asked_kind kind;
    uint32_t keys[KEYS], count;
    int64_t values[KEYS]; /* what the model says at the time of asking; -1: no such key */
    int64_t token;        /* ECHO */
};

/* A client that checks. Its keys are its own: "c<client>.<epoch>.<key>". After anything that leaves
 * the fate of a write open (a cut, an error) the epoch grows, and with it come fresh keys. */
struct checker {
    uint32_t number, epoch;
    struct io_loop *loop;
    struct io_conn *conn;
    struct io_timer *timer;
    struct random random;
    struct buffer in, out;
    struct resp_scanner scanner;
    bool is_connected;
    struct asked asked[ASKED_MAX];
    uint32_t first, under_way;
    int64_t model[KEYS];
    int64_t next_value;
    bool epoch_is_spoilt;
    uint64_t checked, errors, cuts;
    char wrong[256]; /* the first reply that was wrong */
};

static void checker_event(void *context, int events);

static void fresh_epoch(struct checker *checker)
{
    checker->epoch++;
    checker->epoch_is_spoilt = false;
    for (int i = 0; i < KEYS; i++)
        checker->model[i] = -1;
}

static void checker_connect(void *context)
{
    struct checker *checker = context;
    checker->is_connected = false;
    checker->first = checker->under_way = 0;
    buffer_clear(&checker->in);
    buffer_clear(&checker->out);
    resp_scanner_init(&checker->scanner);
    fresh_epoch(checker);
    if (io_connect(checker->loop, "router:7400", checker_event, checker, &checker->conn) < 0)
        io_timer_start(checker->timer, 10);
}

static void checker_cut(struct checker *checker)
{
    checker->cuts++;
    io_close(&checker->conn);
    io_timer_start(checker->timer, 5);
}

static void write_key(struct checker *checker, uint32_t key)
{
    char text[48];
    snprintf(text, sizeof text, "c%u.%u.%u", checker->number, checker->epoch, key);
    resp_write_bulk_text(&checker->out, text);
}

static void write_number(struct checker *checker, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    resp_write_bulk_text(&checker->out, text);
}

/* ---- asking ------------------------------------------------------------------------------------
 */

static void choose_keys(struct checker *checker, struct asked *asked, uint32_t count)
{
    asked->count = count;
    for (uint32_t i = 0; i < count; i++) /* distinct: a run of them, from anywhere */
        asked->keys[i] = (uint32_t)((asked->keys[0] + i) % KEYS);
}

static void write_request(struct checker *checker, struct asked *asked)
{
    static const char *const names[] = {"SET", "GET", "MGET", "MSET", "DEL", "ECHO"};
    bool has_values = asked->kind == ASKED_SET || asked->kind == ASKED_MSET;
    resp_write_array(&checker->out,
                     1 + asked->count * (has_values ? 2u : 1u) + (asked->kind == ASKED_ECHO));
    resp_write_bulk_text(&checker->out, names[asked->kind]);
    if (asked->kind == ASKED_ECHO)
        write_number(checker, asked->token);
    for (uint32_t i = 0; i < asked->count; i++) {
        uint32_t key = asked->keys[i];
        write_key(checker, key);
        if (has_values)
            write_number(checker, checker->model[key] = ++checker->next_value);
        asked->values[i] = checker->model[key];
        if (asked->kind == ASKED_DEL)
            checker->model[key] = -1;
    }
}

static void ask(struct checker *checker)
{
    struct asked *asked = &checker->asked[(checker->first + checker->under_way) % ASKED_MAX];
    *asked = (struct asked){.kind = (enum asked_kind)random_below(&checker->random, 6)};
    bool is_many = asked->kind == ASKED_MGET || asked->kind == ASKED_MSET ||
                   asked->kind == ASKED_DEL;
    asked->keys[0] = (uint32_t)random_below(&checker->random, KEYS);
    asked->token = (int64_t)random_below(&checker->random, 1000000);
    if (asked->kind != ASKED_ECHO)
        choose_keys(checker, asked,
                    is_many ? 1 + (uint32_t)random_below(&checker->random, KEYS - 1) : 1);
    write_request(checker, asked);
    checker->under_way++;
}

static void flush(struct checker *checker)
{
    while (checker->conn && checker->is_connected && checker->out.len) {
        struct iovec part = {buffer_bytes(&checker->out), checker->out.len};
        ssize_t written = io_write(checker->conn, &part, 1);
        if (written <= 0)
            return;
        buffer_take(&checker->out, (size_t)written);
    }
}

static void ask_more(struct checker *checker)
{
    /* A spoilt epoch ends when nothing of it is under way. */
    if (checker->epoch_is_spoilt && checker->under_way == 0)
        fresh_epoch(checker);
    while (!checker->epoch_is_spoilt && checker->under_way < DEPTH &&
           random_below(&checker->random, 4) != 0)
        ask(checker);
    flush(checker);
}

/* ---- checking ----------------------------------------------------------------------------------
 */

static void wrong(struct checker *checker, const char *what, const char *reply, size_t len)
{
    if (!checker->wrong[0])
        snprintf(checker->wrong, sizeof checker->wrong, "client %u, %s: %.*s", checker->number,
                 what, (int)(len < 100 ? len : 100), reply);
}

static bool value_is(const struct resp_value *value, int64_t expected)
{
    int64_t number;
    if (expected < 0)
        return value->is_null;
    return value->type == '$' && !value->is_null && resp_parse_integer(value->text, &number) &&
           number == expected;
}

static bool is_right(const struct asked *asked, const char *reply, size_t len)
{
    struct resp_value value;
    size_t at = 0;
    int64_t existing = 0;
    if (resp_read_value(reply, len, &value) != RESP_DONE)
        return false;
    switch (asked->kind) {
    case ASKED_SET:
    case ASKED_MSET: return value.type == '+';
    case ASKED_GET: return value_is(&value, asked->values[0]);
    case ASKED_ECHO: return value_is(&value, asked->token);
    case ASKED_DEL:
        for (uint32_t i = 0; i < asked->count; i++)
            existing += asked->values[i] >= 0;
        return value.type == ':' && value.integer == existing;
    case ASKED_MGET: break;
    }
    if (value.type != '*' || value.integer != asked->count)
        return false;
    for (uint32_t i = 0; i < asked->count; i++) {
        at += value.head_len;
        if (resp_read_value(reply + at, len - at, &value) != RESP_DONE ||
            !value_is(&value, asked->values[i]))
            return false;
    }
    return true;
}

static void take_reply(struct checker *checker, const char *reply, size_t len)
{
    struct asked *asked = &checker->asked[checker->first];
    if (checker->under_way == 0) {
        wrong(checker, "a reply to nothing", reply, len);
        return;
    }
    checker->first = (checker->first + 1) % ASKED_MAX;
    checker->under_way--;
    checker->checked++;
    if (reply[0] == '-' && strncmp(reply, "-NODEDOWN node '", 16) == 0 &&
        asked->kind != ASKED_ECHO) {
        checker->errors++;
        checker->epoch_is_spoilt = true;
    } else if (!is_right(asked, reply, len) && !checker->epoch_is_spoilt) {
        wrong(checker, "wrong reply", reply, len);
    }
}

static void checker_read(struct checker *checker)
{
    char bytes[2048];
    ssize_t got = io_read(checker->conn, bytes, sizeof bytes);
    if (got == -EAGAIN)
        return;
    if (got <= 0) {
        checker_cut(checker);
        return;
    }
    buffer_append(&checker->in, bytes, (size_t)got);
    while (checker->in.len && resp_scan(&checker->scanner, buffer_bytes(&checker->in),
                                        checker->in.len, 1 << 20) == RESP_DONE) {
        size_t len = checker->scanner.position;
        resp_scanner_init(&checker->scanner);
        take_reply(checker, buffer_bytes(&checker->in), len);
        buffer_take(&checker->in, len);
    }
}

static void checker_event(void *context, int events)
{
    struct checker *checker = context;
    if (events & IO_WRITABLE)
        checker->is_connected = true;
    if (events & IO_READABLE)
        checker_read(checker);
    if (!checker->conn)
        return;
    flush(checker);
    io_timer_start(checker->timer, 1);
}

static void checker_timer(void *context)
{
    struct checker *checker = context;
    if (!checker->conn) {
        checker_connect(checker);
        return;
    }
    if (checker->is_connected)
        ask_more(checker);
    io_timer_start(checker->timer, 1 + random_below(&checker->random, 5));
}

static void checker_init(struct checker *checker, uint32_t number, uint64_t seed)
{
    *checker = (struct checker){.number = number, .random = {seed * 1000 + number}};
    CW_ASSERT(io_loop_create(&checker->loop) == 0);
    CW_ASSERT(io_timer_create(checker->loop, checker_timer, checker, &checker->timer) == 0);
    checker_connect(checker);
}

static void checker_fini(struct checker *checker)
{
    io_close(&checker->conn);
    io_timer_destroy(&checker->timer);
    io_loop_destroy(&checker->loop);
    buffer_release(&checker->in);
    buffer_release(&checker->out);
}

#endif
