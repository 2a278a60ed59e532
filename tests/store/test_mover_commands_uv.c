/*
 * What moves keys speaks to three kinds of node in the same words: an embedded node, a real
 * redis-server, and the memory node that simulations are made with. One table says what each of
 * them must answer.
 * covers: store/cmd_dump, store/cmd_marks, store/cmd_info
 */
#include "store/redis_rig.h"

#include "router/memory_node.h"

#define SET_NAME "\"\\x00cw:dirty:t1:7\""

/* ---- the three ------------------------------------------------------------------------------- */

struct memory_rig {
    struct memory_node *node;
    pthread_t thread;
    char address[64];
    uint16_t port;
};

static void *memory_rig_run(void *context)
{
    struct memory_rig *rig = context;
    io_loop_run(rig->node->loop);
    return NULL;
}

static struct {
    struct node_rig embedded;
    struct redis_rig redis;
    struct memory_rig memory;
} all;

enum { KINDS = 3 };
static const char *const kind_names[KINDS] = {"embedded node", "redis-server", "memory node"};

static uint16_t port_of(int kind)
{
    const uint16_t ports[KINDS] = {all.embedded.port, all.redis.port, all.memory.port};
    return ports[kind];
}

static int start_all(void **state)
{
    node_rig_start(&all.embedded, node_rig_options());
    redis_rig_start(&all.redis);
    all.memory.port = free_port();
    snprintf(all.memory.address, sizeof all.memory.address, "127.0.0.1:%u", all.memory.port);
    all.memory.node = memory_node_create(all.memory.address, 1);
    assert_int_equal(pthread_create(&all.memory.thread, NULL, memory_rig_run, &all.memory), 0);
    return 0;
}

static int stop_all(void **state)
{
    node_rig_stop(&all.embedded);
    redis_rig_stop(&all.redis);
    io_loop_stop(all.memory.node->loop);
    pthread_join(all.memory.thread, NULL);
    memory_node_destroy(all.memory.node);
    return 0;
}

/* ---- a client -------------------------------------------------------------------------------- */

struct talk {
    int fd, kind;
    struct client_input input;
    size_t taken;
    char shown[8192];
};

static void talk_open(struct talk *talk, int kind)
{
    memset(talk, 0, sizeof *talk);
    talk->kind = kind;
    talk->fd = client_open(port_of(kind));
}

static void talk_close(struct talk *talk)
{
    close(talk->fd);
    buffer_release(&talk->input.bytes);
}

static const char *hear(struct talk *talk)
{
    struct slice reply = client_reply(talk->fd, &talk->input, &talk->taken);
    size_t to = 0;
    for (size_t i = 0; i < reply.len && to < sizeof talk->shown - 1; i++)
        if (reply.ptr[i] != '\r')
            talk->shown[to++] = reply.ptr[i] == '\n' ? ' ' : reply.ptr[i];
    talk->shown[to ? to - 1 : 0] = '\0';
    return talk->shown;
}

static const char *say(struct talk *talk, const char *command)
{
    struct buffer line = BUFFER_INIT; /* in one piece: a second one would wait for an ACK */
    assert_true(buffer_printf(&line, "%s\r\n", command));
    client_send(talk->fd, buffer_bytes(&line), line.len);
    buffer_release(&line);
    return hear(talk);
}

/* The payload that DUMP gives for a key. */
static void dump(struct talk *talk, const char *key, struct buffer *ret_payload)
{
    struct resp_value value;
    char command[64];
    snprintf(command, sizeof command, "DUMP %s\r\n", key);
    client_send_text(talk->fd, command);
    struct slice reply = client_reply(talk->fd, &talk->input, &talk->taken);
    assert_int_equal(resp_read_value(reply.ptr, reply.len, &value), RESP_DONE);
    assert_false(value.is_null);
    assert_true(buffer_append(ret_payload, value.text.ptr, value.text.len));
}

/* RESTORE to ttl payload, and what else stands in `rest`: "to ttl option option". */
static const char *restore(struct talk *talk, const char *rest, const struct buffer *payload)
{
    struct buffer out = BUFFER_INIT;
    char words[8][32];
    int count = sscanf(rest, "%31s %31s %31s %31s %31s %31s", words[0], words[1], words[2],
                       words[3], words[4], words[5]);
    assert_true(count >= 2);
    resp_write_array(&out, (size_t)count + 2);
    resp_write_bulk_text(&out, "RESTORE");
    resp_write_bulk_text(&out, words[0]);
    resp_write_bulk_text(&out, words[1]);
    resp_write_bulk(&out, buffer_bytes(payload), payload->len);
    for (int i = 2; i < count; i++)
        resp_write_bulk_text(&out, words[i]);
    client_send(talk->fd, buffer_bytes(&out), out.len);
    buffer_release(&out);
    return hear(talk);
}

/* ---- the table ------------------------------------------------------------------------------- */

/* A reply is given whole; or as "^" and how it begins, "~" and what stands in it, or ">", a number
 * above 0. "CARRY a b 0 …" is RESTORE b 0 … with what DUMP a gave; FLIP the same with each byte in
 * turn changed, and each must get the reply. */
static const struct {
    const char *command, *reply;
} cases[] = {
    {"PING", "+PONG"},
    {"AUTH secret", "^-ERR AUTH <password> called without any password configured"},
    {"CLIENT SETNAME cw:mover", "+OK"},
    {"CLIENT ID", ">"},
    {"CLIENT KILL ID 99999999", ":0"},
    {"CLIENT KILL ID 0", "-ERR client-id should be greater than 0"},
    {"INFO server", "~redis_version:7."},
    {"INFO server", "~ run_id:"},
    {"INFO memory", "~ maxmemory:"},
    {"INFO memory", "~ used_memory:"},
    {"INFO memory", "~ maxmemory_policy:noeviction"},
    {"INFO persistence", "~ loading:0"},
    {"INFO replication", "~ role:master"},
    {"FLUSHALL", "+OK"},
    {"DBSIZE", ":0"},
    /* keys */
    {"SET k v", "+OK"},
    {"DBSIZE", ":1"},
    {"TYPE k", "+string"},
    {"TYPE none", "+none"},
    {"STRLEN k", ":1"},
    {"STRLEN none", ":0"},
    {"EXISTS k none", ":1"},
    {"PEXPIRETIME k", ":-1"},
    {"PEXPIRETIME none", ":-2"},
    {"MEMORY USAGE k", ">"},
    {"MEMORY USAGE k SAMPLES 5", ">"},
    {"MEMORY USAGE none", "$-1"},
    {"MEMORY USAGE k WORD 5", "-ERR syntax error"},
    {"SCAN 0 COUNT 10", "*2 $1 0 *1 $1 k"},
    {"SCAN 0 COUNT 0", "-ERR syntax error"},
    {"SCAN x", "-ERR invalid cursor"},
    {"DUMP none", "$-1"},
    {"DUMP", "-ERR wrong number of arguments for 'dump' command"},
    /* payloads */
    {"CARRY k copy 0", "+OK"},
    {"GET copy", "$1 v"},
    {"PEXPIRETIME copy", ":-1"},
    {"CARRY k copy 0 ABSTTL", "-BUSYKEY Target key name already exists."},
    {"CARRY k copy 4102444800000 ABSTTL REPLACE", "+OK"},
    {"PEXPIRETIME copy", ":4102444800000"},
    {"CARRY copy k 0 REPLACE", "+OK"}, /* the lifetime is no part of it */
    {"PEXPIRETIME k", ":-1"},
    {"CARRY k copy 1000 REPLACE ABSTTL", "+OK"}, /* over long ago */
    {"EXISTS copy", ":0"},
    {"CARRY k copy 1000 ABSTTL", "+OK"},
    {"EXISTS copy", ":0"},
    {"CARRY k copy 600000", "+OK"},
    {"PEXPIRETIME copy", ">"},
    {"CARRY k copy 0 REPLACE IDLETIME 5", "+OK"},
    {"CARRY k copy 0 FREQ 5 REPLACE", "+OK"},
    {"CARRY k copy -1 REPLACE", "-ERR Invalid TTL value, must be >= 0"},
    {"CARRY k copy x REPLACE", "-ERR value is not an integer or out of range"},
    {"CARRY k copy 0 WHAT", "-ERR syntax error"},
    {"CARRY k copy 0 IDLETIME", "-ERR syntax error"},
    {"FLIP k other 0", "-ERR DUMP payload version or checksum are wrong"},
    {"FLIP k copy 0 REPLACE", "-ERR DUMP payload version or checksum are wrong"},
    {"RESTORE other 0 ''", "-ERR DUMP payload version or checksum are wrong"},
    {"RESTORE other 0 short", "-ERR DUMP payload version or checksum are wrong"},
    {"EXISTS other", ":0"},
    {"GET copy", "$1 v"}, /* what is refused replaces nothing */
    {"SET k \"a\\x00b\\xff\"", "+OK"},
    {"CARRY k copy 0 REPLACE", "+OK"},
    {"STRLEN copy", ":4"},
    {"SET k ''", "+OK"},
    {"CARRY k copy 0 REPLACE", "+OK"},
    {"GET copy", "$0 "},
    {"UNLINK copy none", ":1"},
    {"DEL k", ":1"},
    /* dirty sets */
    {"SADD " SET_NAME " a b a", ":2"},
    {"SADD " SET_NAME " b c", ":1"},
    {"SADD " SET_NAME, "-ERR wrong number of arguments for 'sadd' command"},
    {"SCARD " SET_NAME, ":3"},
    {"SISMEMBER " SET_NAME " c", ":1"},
    {"SISMEMBER " SET_NAME " d", ":0"},
    {"TYPE " SET_NAME, "+set"},
    {"EXISTS " SET_NAME, ":1"},
    {"SREM " SET_NAME " c d", ":1"},
    {"SPOP " SET_NAME " 0", "*0"},
    {"SPOP " SET_NAME " -1", "-ERR value is out of range, must be positive"},
    {"SPOP " SET_NAME " 1 2", "-ERR syntax error"},
    {"SPOP " SET_NAME " 9", "^*2 $1 "},
    {"SPOP " SET_NAME " 9", "*0"},
    {"SPOP " SET_NAME, "$-1"},
    {"SCARD " SET_NAME, ":0"},
    {"EXISTS " SET_NAME, ":0"},
    {"SADD " SET_NAME " x", ":1"},
    {"SPOP " SET_NAME, "$1 x"},
    {"SADD " SET_NAME " x", ":1"},
    {"UNLINK " SET_NAME, ":1"},
    {"DEL " SET_NAME, ":0"},
    {"SADD " SET_NAME " x", ":1"},
    {"FLUSHALL", "+OK"},
    {"SCARD " SET_NAME, ":0"},
};

static bool fits(const char *reply, const char *wanted)
{
    switch (wanted[0]) {
    case '^': return strncmp(reply, wanted + 1, strlen(wanted + 1)) == 0;
    case '~': return strstr(reply, wanted + 1) != NULL;
    case '>': return reply[0] == ':' && reply[1] >= '1' && reply[1] <= '9';
    default: return strcmp(reply, wanted) == 0;
    }
}

static void check(struct talk *talk, size_t number, const char *reply)
{
    if (!fits(reply, cases[number].reply))
        fail_msg("%s, row %zu: %s\n  answered %s\n  expected %s", kind_names[talk->kind], number,
                 cases[number].command, reply, cases[number].reply);
}

static void run_case(struct talk *talk, size_t number)
{
    const char *command = cases[number].command;
    struct buffer payload = BUFFER_INIT;
    char from[16];
    if (sscanf(command, "CARRY %15s", from) != 1 && sscanf(command, "FLIP %15s", from) != 1) {
        check(talk, number, say(talk, command));
        return;
    }
    const char *rest = strchr(strchr(command, ' ') + 1, ' ');
    dump(talk, from, &payload);
    if (command[0] == 'C')
        check(talk, number, restore(talk, rest, &payload));
    for (size_t i = 0; command[0] == 'F' && i < payload.len; i++) {
        buffer_bytes(&payload)[i] ^= (char)(1 << i % 8);
        check(talk, number, restore(talk, rest, &payload));
        buffer_bytes(&payload)[i] ^= (char)(1 << i % 8);
    }
    buffer_release(&payload);
}

static void all_three_answer_as_the_table_says(void **state)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct talk talk;
        talk_open(&talk, kind);
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
            run_case(&talk, i);
        talk_close(&talk);
    }
}

/* ---- what no row can say --------------------------------------------------------------------- */

static void a_killed_connection_is_closed_and_nobody_kills_himself(void **state)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct talk killer, victim;
        char command[64], byte;
        talk_open(&killer, kind);
        talk_open(&victim, kind);
        long id = strtol(say(&victim, "CLIENT ID") + 1, NULL, 10);
        snprintf(command, sizeof command, "CLIENT KILL ID %ld", id);
        assert_string_equal(say(&killer, command), ":1");
        assert_true(recv(victim.fd, &byte, 1, 0) <= 0);
        assert_string_equal(say(&killer, command), ":0");
        snprintf(command, sizeof command, "CLIENT KILL ID %s", say(&killer, "CLIENT ID") + 1);
        assert_string_equal(say(&killer, command), ":0");
        assert_string_equal(say(&killer, "PING"), "+PONG");
        talk_close(&killer);
        talk_close(&victim);
    }
}

enum { KEPT = 300 };

/* MSET or DEL of the keys prefix<from> … prefix<to-1>. */
static const char *say_of_many(struct talk *talk, const char *name, const char *prefix, int from,
                               int to)
{
    static char command[16 * KEPT];
    size_t len = (size_t)snprintf(command, sizeof command, "%s", name);
    for (int i = from; i < to; i++)
        len += (size_t)snprintf(command + len, sizeof command - len, " %s%d%s", prefix, i,
                                name[0] == 'M' ? " x" : "");
    return say(talk, command);
}

/* Notes which of the kept keys a reply of SCAN names, and gives the cursor. */
static void note_scanned(const char *reply, uint8_t *seen, char cursor[32])
{
    assert_int_equal(sscanf(reply, "*2 $%*d %31s", cursor), 1);
    for (const char *at = strstr(reply, "kept"); at; at = strstr(at + 1, "kept")) {
        int number = (int)strtol(at + 4, NULL, 10);
        assert_in_range(number, 0, KEPT - 1);
        seen[number] = 1;
    }
}

static void scan_names_what_is_there_all_the_time(void **state)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct talk talk;
        uint8_t seen[KEPT] = {0};
        char command[64], cursor[32] = "0";
        struct random random = {7};
        talk_open(&talk, kind);
        say(&talk, "FLUSHALL");
        assert_string_equal(say_of_many(&talk, "MSET", "kept", 0, KEPT), "+OK");
        do {
            int first = (int)random_below(&random, 400);
            bool puts = random_below(&random, 2);
            snprintf(command, sizeof command, "SCAN %s COUNT 7", cursor);
            note_scanned(say(&talk, command), seen, cursor);
            say_of_many(&talk, puts ? "MSET" : "DEL", "other", first, first + 40);
        } while (strcmp(cursor, "0") != 0);
        for (int i = 0; i < KEPT; i++)
            if (!seen[i])
                fail_msg("%s: kept%d was not scanned", kind_names[kind], i);
        talk_close(&talk);
    }
}

static void embedded_nodes_have_no_sets_but_dirty_ones(void **state)
{
    struct talk talk;
    talk_open(&talk, 0);
    say(&talk, "FLUSHALL");
    static const char refusal[] = "-ERR sets are not served by embedded nodes";
    assert_string_equal(say(&talk, "SADD s a"), refusal);
    assert_string_equal(say(&talk, "SPOP s 1"), refusal);
    assert_string_equal(say(&talk, "SREM s a"), refusal);
    assert_string_equal(say(&talk, "SCARD s"), refusal);
    assert_string_equal(say(&talk, "SISMEMBER s a"), refusal);
    assert_string_equal(say(&talk, "SADD " SET_NAME " a"), ":1");
    assert_string_equal(say(&talk, "DBSIZE"), ":0");
    assert_string_equal(say(&talk, "SCAN 0"), "*2 $1 0 *0");
    assert_string_equal(say(&talk, "KEYS *"), "*0");
    assert_string_equal(say(&talk, "RANDOMKEY"), "$-1");
    talk_close(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_three_answer_as_the_table_says),
        cmocka_unit_test(a_killed_connection_is_closed_and_nobody_kills_himself),
        cmocka_unit_test(scan_names_what_is_there_all_the_time),
        cmocka_unit_test(embedded_nodes_have_no_sets_but_dirty_ones),
    };
    return cmocka_run_group_tests(tests, start_all, stop_all);
}
