/*
 * The same random commands to an embedded node and to a real redis-server: every reply must be
 * equal, byte for byte. Times are far from now, so that a millisecond between the two does not
 * show; what tells a time is compared with some tolerance, and what has no order as a set.
 */
#include "base/random.h"
#include "store/redis_rig.h"
#include "store/wish.h"

enum { COMMAND_TOTAL = 30000, PIPELINE = 50 };
enum { TOLERANCE_MS = 20000 };

#define PICK(random, pool) pool[random_below(random, sizeof pool / sizeof pool[0])]

static bool chance(struct random *random, unsigned permille)
{
    return random_below(random, 1000) < permille;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static void add_key(struct wish *wish, struct random *random)
{
    static const char *const keys[] = {"a",    "b",     "ab",   "abc", "b*",      "[a]", "{t}1",
                                       "{t}2", "key:1", "10",   "-",   "A",       "^",   "\\",
                                       "?",    "",      "a\nb", "k z", "\xff\xfe"};
    char longer[900];
    if (chance(random, 60)) {
        size_t len = 470 + random_below(random, 4) * 100;
        memset(longer, 'L', len);
        longer[len - 1] = (char)('0' + random_below(random, 3));
        add_bytes(wish, longer, len);
    } else if (chance(random, 60)) {
        add_bytes(wish, "n\0l", 3);
    } else {
        add(wish, PICK(random, keys));
    }
}

static void add_value(struct wish *wish, struct random *random)
{
    static const char *const values[] = {"0",
                                         "1",
                                         "-1",
                                         "41",
                                         "10.5",
                                         "-0.1",
                                         "3.0e3",
                                         "5.0e-3",
                                         "9223372036854775807",
                                         "-9223372036854775808",
                                         "9223372036854775806",
                                         "9223372036854775808",
                                         "01",
                                         "+1",
                                         " 1",
                                         "1 ",
                                         "abc",
                                         "",
                                         "inf",
                                         "-inf",
                                         "nan",
                                         "0x10",
                                         "1e400",
                                         "1e5000",
                                         "-0",
                                         "0.1",
                                         "1234567.891",
                                         "\r\n",
                                         "Hello World",
                                         "1_0",
                                         "00",
                                         "-",
                                         "1.",
                                         ".5"};
    char random_bytes[40];
    if (chance(random, 700)) {
        add(wish, PICK(random, values));
        return;
    }
    size_t len = random_below(random, sizeof random_bytes);
    for (size_t i = 0; i < len; i++)
        random_bytes[i] = (char)random_below(random, 256);
    add_bytes(wish, random_bytes, len);
}

static void add_number(struct wish *wish, struct random *random)
{
    static const char *const odd[] = {"9223372036854775807",
                                      "-9223372036854775808",
                                      "9223372036854775808",
                                      "abc",
                                      "",
                                      "1.5",
                                      " 1",
                                      "+1",
                                      "01"};
    char text[24];
    snprintf(text, sizeof text, "%d", (int)random_below(random, 40) - 20);
    add(wish, chance(random, 150) ? PICK(random, odd) : text);
}

/* A time far ahead or long ago, by unit and start; at times none at all. */
static void add_time(struct wish *wish, struct random *random, bool is_seconds, bool is_absolute)
{
    static const char *const odd[] = {"0",
                                      "-1",
                                      "-100000",
                                      "abc",
                                      "",
                                      "9223372036854775807",
                                      "1.5",
                                      "01",
                                      "-9223372036854775808",
                                      "9223372036854775"};
    char text[32];
    uint64_t seconds = (is_absolute ? 4000000000u : 5000) + random_below(random, 1000000000);
    snprintf(text, sizeof text, "%llu%s", (unsigned long long)seconds, is_seconds ? "" : "000");
    if (is_absolute && chance(random, 100))
        snprintf(text, sizeof text, "%d", (int)random_below(random, 1000000));
    add(wish, chance(random, 150) ? PICK(random, odd) : text);
}

static void add_pattern(struct wish *wish, struct random *random)
{
    static const char *const patterns[] = {"*",   "a*",    "*b",   "?",     "[a-b]*", "[^a]*",
                                           "\\*", "*\\[*", "[a-]", "[\\]]", "{t}*",   "*1"};
    static const char alphabet[] = "aab*?[]^-\\1{t";
    char text[8];
    size_t len = random_below(random, sizeof text);
    for (size_t i = 0; i < len; i++)
        text[i] = alphabet[random_below(random, sizeof alphabet - 1)];
    if (chance(random, 500))
        add(wish, PICK(random, patterns));
    else
        add_bytes(wish, text, len);
}

/* A word of a command in random case. */
static void add_word(struct wish *wish, struct random *random, const char *word)
{
    char text[32];
    size_t len = strlen(word);
    for (size_t i = 0; i < len; i++)
        text[i] = chance(random, 300) ? (char)(word[i] ^ 0x20) : word[i];
    add_bytes(wish, text, len);
}

static void add_time_option(struct wish *wish, struct random *random, const char *word)
{
    bool is_absolute = strlen(word) > 2, is_seconds = word[0] == 'E';
    add_word(wish, random, word);
    if (!chance(random, 30))
        add_time(wish, random, is_seconds, is_absolute);
}

static void add_set_options(struct wish *wish, struct random *random)
{
    static const char *const times[] = {"EX", "PX", "EXAT", "PXAT"};
    static const char *const words[] = {"NX", "XX", "GET", "KEEPTTL", "PERSIST", "what", "EX", ""};
    if (chance(random, 400))
        add_time_option(wish, random, PICK(random, times));
    while (wish->count < 8 && chance(random, 350))
        add_word(wish, random, words[random_below(random, chance(random, 150) ? 8 : 4)]);
    if (wish->count < 8 && chance(random, 100))
        add_time_option(wish, random, PICK(random, times));
}

static void add_getex_options(struct wish *wish, struct random *random)
{
    static const char *const times[] = {"EX", "PX", "EXAT", "PXAT"};
    static const char *const words[] = {"PERSIST", "PERSIST", "NX", "KEEPTTL", "GET"};
    if (chance(random, 500))
        add_time_option(wish, random, PICK(random, times));
    if (chance(random, 200))
        add_word(wish, random, PICK(random, words));
}

static void add_expire_options(struct wish *wish, struct random *random)
{
    static const char *const words[] = {"NX", "XX", "GT", "LT", "NO"};
    for (int i = 0; i < 3 && chance(random, 400); i++)
        add_word(wish, random, words[random_below(random, chance(random, 100) ? 5 : 4)]);
}

static void add_copy_options(struct wish *wish, struct random *random)
{
    static const char *const numbers[] = {"0", "0", "1", "x", "-1"};
    if (chance(random, 400))
        add_word(wish, random, "REPLACE");
    if (chance(random, 200)) {
        add_word(wish, random, "DB");
        if (!chance(random, 100))
            add(wish, PICK(random, numbers));
    }
}

/* ---- commands -------------------------------------------------------------------------------- */

/* What follows the name: k key, v value, n number, s/m time in seconds or milliseconds from now,
 * S/M the same from 1970, p pattern; * repeats the last ones once or more; O G E C options of SET,
 * GETEX, EXPIRE, COPY. */
struct form {
    const char *name, *args;
    unsigned share;
};

static const struct form forms[] = {
    {"GET", "k", 60},           {"SET", "kv", 60},       {"SET", "kvO", 90},
    {"SETNX", "kv", 20},        {"SETEX", "ksv", 20},    {"PSETEX", "kmv", 20},
    {"GETSET", "kv", 20},       {"GETDEL", "k", 20},     {"GETEX", "kG", 40},
    {"APPEND", "kv", 30},       {"STRLEN", "k", 20},     {"GETRANGE", "knn", 40},
    {"SUBSTR", "knn", 5},       {"SETRANGE", "knv", 30}, {"INCR", "k", 40},
    {"DECR", "k", 30},          {"INCRBY", "kn", 30},    {"DECRBY", "kn", 30},
    {"INCRBYFLOAT", "kv", 60},  {"MGET", "kkk", 20},     {"MSET", "kvkv", 20},
    {"MSETNX", "kvkv", 20},     {"MSET", "kvk", 3},      {"MSETNX", "kvk", 3},
    {"DEL", "kk", 20},          {"UNLINK", "k", 20},     {"EXISTS", "kkk", 20},
    {"TOUCH", "kk", 10},        {"TYPE", "k", 20},       {"EXPIRE", "ksE", 60},
    {"PEXPIRE", "kmE", 60},     {"EXPIREAT", "kSE", 60}, {"PEXPIREAT", "kME", 60},
    {"TTL", "k", 30},           {"PTTL", "k", 30},       {"EXPIRETIME", "k", 30},
    {"PEXPIRETIME", "k", 30},   {"PERSIST", "k", 20},    {"KEYS", "p", 40},
    {"SCAN", "0p", 0},          {"RANDOMKEY", "", 10},   {"RENAME", "kk", 30},
    {"RENAMENX", "kk", 30},     {"COPY", "kkC", 60},     {"FLUSHALL", "", 1},
    {"FLUSHDB", "v", 2},        {"PING", "", 5},         {"PING", "v", 5},
    {"PING", "vv", 2},          {"ECHO", "v", 5},        {"SELECT", "n", 5},
    {"NOSUCHCOMMAND", "vv", 5}, {"get", "", 5},          {"set", "k", 5},
    {"Get", "kk", 5},           {"incr", "kk", 5},       {"mget", "", 3},
    {"copy", "k", 3},
};

static void add_arg(struct wish *wish, struct random *random, char kind)
{
    switch (kind) {
    case 'k': add_key(wish, random); break;
    case 'v': add_value(wish, random); break;
    case 'n': add_number(wish, random); break;
    case 's': add_time(wish, random, true, false); break;
    case 'm': add_time(wish, random, false, false); break;
    case 'S': add_time(wish, random, true, true); break;
    case 'M': add_time(wish, random, false, true); break;
    case 'p': add_pattern(wish, random); break;
    case 'O': add_set_options(wish, random); break;
    case 'G': add_getex_options(wish, random); break;
    case 'E': add_expire_options(wish, random); break;
    case 'C': add_copy_options(wish, random); break;
    default: fail_msg("no such kind of argument: %c", kind);
    }
}

static void make_wish(struct wish *wish, struct random *random)
{
    unsigned total = 0;
    size_t i = 0;
    for (size_t k = 0; k < sizeof forms / sizeof forms[0]; k++)
        total += forms[k].share;
    uint64_t at = random_below(random, total);
    for (; at >= forms[i].share; i++)
        at -= forms[i].share;
    wish->count = 0;
    add(wish, forms[i].name);
    for (const char *kind = forms[i].args; *kind; kind++)
        add_arg(wish, random, *kind);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_name(const struct wish *wish, const char *name)
{
    return wish->lens[0] == strlen(name) && memcmp(wish->args[0], name, wish->lens[0]) == 0;
}

static bool are_equal(struct slice a, struct slice b)
{
    return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0;
}

/* Two times, or the same negative number. */
static bool are_near(struct slice a, struct slice b)
{
    struct resp_value x, y;
    if (resp_read_value(a.ptr, a.len, &x) != RESP_DONE ||
        resp_read_value(b.ptr, b.len, &y) != RESP_DONE || x.type != ':' || y.type != ':')
        return are_equal(a, b);
    if (x.integer < 0 || y.integer < 0)
        return x.integer == y.integer;
    int64_t difference = x.integer > y.integer ? x.integer - y.integer : y.integer - x.integer;
    return difference <= TOLERANCE_MS;
}

enum { ELEMENTS_MAX = 256 };

static int compare_elements(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    size_t len = x->len < y->len ? x->len : y->len;
    int order = memcmp(x->ptr, y->ptr, len);
    return order ? order : (x->len > y->len) - (x->len < y->len);
}

static size_t sorted_elements(struct slice reply, struct slice *elements)
{
    struct resp_value value;
    assert_int_equal(resp_read_value(reply.ptr, reply.len, &value), RESP_DONE);
    size_t count = (size_t)value.integer, at = value.head_len;
    assert_in_range(count, 0, ELEMENTS_MAX);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(resp_read_value(reply.ptr + at, reply.len - at, &value), RESP_DONE);
        elements[i] = value.text;
        at += value.head_len;
    }
    qsort(elements, count, sizeof *elements, compare_elements);
    return count;
}

static bool are_equal_sets(struct slice a, struct slice b)
{
    struct slice x[ELEMENTS_MAX], y[ELEMENTS_MAX];
    if (a.ptr[0] != '*' || b.ptr[0] != '*')
        return are_equal(a, b);
    size_t count = sorted_elements(a, x);
    if (count != sorted_elements(b, y))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!are_equal(x[i], y[i]))
            return false;
    return true;
}

static bool do_agree(const struct wish *wish, struct slice ours, struct slice theirs)
{
    if (is_name(wish, "KEYS"))
        return are_equal_sets(ours, theirs);
    if (is_name(wish, "RANDOMKEY")) /* any key will do, but none only if there is none */
        return (ours.ptr[1] == '-') == (theirs.ptr[1] == '-');
    if (is_name(wish, "TTL") || is_name(wish, "PTTL") || is_name(wish, "EXPIRETIME") ||
        is_name(wish, "PEXPIRETIME"))
        return are_near(ours, theirs);
    return are_equal(ours, theirs);
}

static void print_quoted(struct buffer *text, const char *bytes, size_t len)
{
    buffer_append_text(text, " \"");
    for (size_t i = 0; i < len; i++)
        if (bytes[i] >= ' ' && bytes[i] <= '~' && bytes[i] != '"')
            buffer_append(text, bytes + i, 1);
        else
            buffer_printf(text, "\\x%02x", (unsigned char)bytes[i]);
    buffer_append_text(text, "\"");
}

static void complain(const struct wish *wish, struct slice ours, struct slice theirs, uint64_t seed,
                     size_t number)
{
    struct buffer text = BUFFER_INIT;
    for (size_t i = 0; i < wish->count; i++)
        print_quoted(&text, wish->args[i], wish->lens[i]);
    buffer_append_text(&text, "\n  embedded:");
    print_quoted(&text, ours.ptr, ours.len);
    buffer_append_text(&text, "\n  redis:   ");
    print_quoted(&text, theirs.ptr, theirs.len);
    buffer_append(&text, "", 1);
    fail_msg("CW_SEED=%llu, command %zu:%s", (unsigned long long)seed, number, buffer_bytes(&text));
}

/* ---- the run --------------------------------------------------------------------------------- */

static uint64_t seed_of_run(void)
{
    const char *text = getenv("CW_SEED");
    return text ? strtoull(text, NULL, 10) : 20260101;
}

static void run_pipeline(struct side *ours, struct side *theirs, struct random *random,
                         uint64_t seed, size_t number)
{
    static struct wish wishes[PIPELINE];
    struct buffer out = BUFFER_INIT;
    for (size_t i = 0; i < PIPELINE; i++) {
        make_wish(&wishes[i], random);
        append_wish(&out, &wishes[i]);
    }
    client_send(ours->fd, buffer_bytes(&out), out.len);
    client_send(theirs->fd, buffer_bytes(&out), out.len);
    for (size_t i = 0; i < PIPELINE; i++) {
        struct slice our_reply = client_reply(ours->fd, &ours->input, &ours->taken);
        struct slice their_reply = client_reply(theirs->fd, &theirs->input, &theirs->taken);
        if (!do_agree(&wishes[i], our_reply, their_reply))
            complain(&wishes[i], our_reply, their_reply, seed, number + i);
    }
    buffer_release(&out);
}

static void say_hello(struct side *side)
{
    client_send_text(side->fd, "HELLO 3\r\n");
    struct slice reply = client_reply(side->fd, &side->input, &side->taken);
    assert_int_equal(reply.ptr[0], '%');
}

static void compare_sides(uint64_t seed, bool has_hello)
{
    struct node_rig node;
    struct redis_rig redis;
    struct random random = {seed};
    node_rig_start(&node, node_rig_options());
    redis_rig_start(&redis);
    struct side ours = {.fd = client_open(node.port)}, theirs = {.fd = client_open(redis.port)};
    if (has_hello) {
        say_hello(&ours);
        say_hello(&theirs);
    }
    for (size_t i = 0; i < COMMAND_TOTAL; i += PIPELINE)
        run_pipeline(&ours, &theirs, &random, seed, i);
    close(ours.fd);
    close(theirs.fd);
    buffer_release(&ours.input.bytes);
    buffer_release(&theirs.input.bytes);
    redis_rig_stop(&redis);
    node_rig_stop(&node);
}

static void random_commands_are_answered_as_by_redis(void **state)
{
    compare_sides(seed_of_run(), false);
}

static void random_commands_are_answered_as_by_redis_in_resp3(void **state)
{
    compare_sides(seed_of_run() + 1, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_commands_are_answered_as_by_redis),
        cmocka_unit_test(random_commands_are_answered_as_by_redis_in_resp3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
