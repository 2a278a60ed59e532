/* What is about the connection and the node. */
#include "store/engine_rig.h"

static void ping_and_echo(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "PING", "+PONG");
    expect(rig, "ping hello", "$5 hello");
    expect(rig, "PING a b", "-ERR wrong number of arguments for 'ping' command");
    expect(rig, "ECHO hello", "$5 hello");
    expect(rig, "TIME", "*2 $10 1700000000 $1 0");
}

static void there_is_one_database(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "SELECT 0", "+OK");
    expect(rig, "SELECT 1", "-ERR DB index is out of range");
    expect(rig, "SELECT x", "-ERR value is not an integer or out of range");
}

static void hello_chooses_the_protocol(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "HELLO 4", "-NOPROTO unsupported protocol version");
    expect(rig, "HELLO x", "-ERR Protocol version is not an integer or out of range");
    expect(rig, "HELLO 3 WHAT", "-ERR Syntax error in HELLO option 'WHAT'");
    assert_int_equal(rig->session.protocol, 2);
    assert_true(strncmp(ask(rig, "HELLO 3 AUTH default x SETNAME me"), "%7 $6 server", 12) == 0);
    assert_int_equal(rig->session.protocol, 3);
    expect(rig, "CLIENT GETNAME", "$2 me");
    assert_true(strncmp(ask(rig, "HELLO"), "%7", 2) == 0);
    assert_true(strncmp(ask(rig, "HELLO 2"), "*14", 3) == 0);
    expect(rig, "RESET", "+RESET");
    expect(rig, "CLIENT GETNAME", "$-1");
}

static void clients_may_say_who_they_are(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "CLIENT ID", ":1");
    expect(rig, "CLIENT SETNAME worker-1", "+OK");
    expect(rig, "CLIENT GETNAME", "$8 worker-1");
    expect(rig, "CLIENT SETNAME 'a b'",
           "-ERR Client names cannot contain spaces, newlines or special characters.");
    expect(rig, "CLIENT SETINFO LIB-NAME x", "+OK");
    expect(rig, "CLIENT NO-EVICT on", "+OK");
    expect(rig, "CLIENT INFO", "$31 id=1 name=worker-1 db=0 resp=2 ");
    expect(rig, "CLIENT SETNAME", "-ERR wrong number of arguments for 'client|setname' command");
    expect(rig, "CLIENT WHAT", "-ERR unknown subcommand 'WHAT'. Try CLIENT HELP.");
    expect(rig, "CLIENT", "-ERR wrong number of arguments for 'client' command");
}

static void quit_says_ok_and_closes(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "QUIT", "+OK");
    assert_true(rig->session.is_closing);
}

static void the_node_says_what_it_can_and_how_it_is(void **state)
{
    struct engine_rig *rig = *state;
    expect(rig, "COMMAND DOCS get", "*0");
    assert_true(ask(rig, "COMMAND COUNT")[0] == ':');
    assert_non_null(strstr(ask(rig, "COMMAND LIST"), " SETRANGE"));
    expect(rig, "COMMAND WHAT", "-ERR unknown subcommand 'WHAT'. Try COMMAND HELP.");
    expect(rig, "SET k v", "+OK");
    const char *info = ask(rig, "INFO");
    assert_non_null(strstr(info, "node_id:node-1"));
    assert_non_null(strstr(info, "db0:keys=1"));
    assert_non_null(strstr(info, "commits:1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rig_test(ping_and_echo),
        rig_test(there_is_one_database),
        rig_test(hello_chooses_the_protocol),
        rig_test(clients_may_say_who_they_are),
        rig_test(quit_says_ok_and_closes),
        rig_test(the_node_says_what_it_can_and_how_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
