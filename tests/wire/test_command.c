/*
 * The table of commands, compared with what a real server says (golden/, made by commands.py and by
 * COMMAND GETKEYS).
 * covers: command_keys
 */
#include "wire/describe.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "wire/command.h"

#define GOLDEN CW_SOURCE_DIR "/tests/wire/golden/"

static const struct resp_limits limits = {1000, 1 << 20, 4096, 1 << 24};

static const struct command *find(const char *name)
{
    const struct command *command = command_find(name, strlen(name));
    if (!command)
        fail_msg("%s is not in the table", name);
    return command;
}

/* ---- lookup ---------------------------------------------------------------------------------- */

static void every_command_is_found_by_its_name_in_any_case(void **state)
{
    for (size_t id = 0; id < COMMAND_COUNT; id++) {
        const struct command *command = command_by_id((enum command_id)id);
        char lower[64], mixed[64];
        size_t len = strlen(command->name);
        for (size_t i = 0; i <= len; i++) {
            lower[i] = (char)tolower(command->name[i]);
            mixed[i] = i % 2 ? lower[i] : command->name[i];
        }
        assert_ptr_equal(find(command->name), command);
        assert_ptr_equal(find(lower), command);
        assert_ptr_equal(find(mixed), command);
        assert_int_equal(command->id, id);
    }
}

static void a_name_that_is_nearly_right_is_not_found(void **state)
{
    for (size_t id = 0; id < COMMAND_COUNT; id++) {
        const struct command *command = command_by_id((enum command_id)id);
        size_t len = strlen(command->name);
        for (size_t i = 0; i < len; i++) {
            for (int c = 0; c < 256; c++) {
                char name[64];
                memcpy(name, command->name, len);
                name[i] = (char)c;
                const struct command *found = command_find(name, len);
                bool same = toupper(c) == command->name[i];
                if (found == command && !same)
                    fail_msg("%s was found with byte %zu changed to %d", command->name, i, c);
            }
        }
        assert_ptr_not_equal(command_find(command->name, len - 1), command);
    }
    assert_null(command_find("", 0));
    assert_null(command_find("NOPE", 4));
}

static void names_of_any_length_and_content_do_no_harm(void **state)
{
    struct random random = {3};
    for (int round = 0; round < 100000; round++) {
        size_t len = random_below(&random, 40);
        char bytes[40];
        for (size_t i = 0; i < len; i++)
            bytes[i] = (char)random_next(&random);
        char *name = copy_of(bytes, len);
        command_find(name, len);
        free(name);
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void every_row_makes_sense(void **state)
{
    for (size_t id = 0; id < COMMAND_COUNT; id++) {
        const struct command *command = command_by_id((enum command_id)id);
        bool ok = command->arity != 0 && command->name[0] && command->group[0] &&
                  command->since[0] && command->summary[0];
        int args_min = command->arity < 0 ? -command->arity : command->arity;
        bool is_container = command->first == 2 && command->arity == -2;
        if (command->keys == KEYS_RANGE)
            ok = ok && command->step > 0 && command->first > 0 &&
                 (command->first < args_min || is_container || command->route == COMMAND_REFUSED);
        if (command->keys == KEYS_COUNTED)
            ok = ok && command->step > 0 && command->first < args_min &&
                 command->last < command->first;
        if (command->route == COMMAND_KEYED)
            ok = ok && command->keys != KEYS_NONE &&
                 !(command->flags & COMMAND_READ) == !!(command->flags & COMMAND_WRITE);
        if (command->route == COMMAND_LOCAL || command->route == COMMAND_ALL)
            ok = ok && command->keys == KEYS_NONE;
        if (command->merge != MERGE_NONE)
            ok = ok && (command->route == COMMAND_KEYED || command->route == COMMAND_ALL);
        if (!ok)
            fail_msg("the row of %s makes no sense", command->name);
    }
}

static void commands_split_over_nodes_have_the_right_merge(void **state)
{
    static const struct {
        enum command_id id;
        enum command_merge merge;
    } wanted[] = {
        {CMD_MGET, MERGE_ARRAY},  {CMD_MSET, MERGE_OK},     {CMD_DEL, MERGE_SUM},
        {CMD_UNLINK, MERGE_SUM},  {CMD_EXISTS, MERGE_SUM},  {CMD_TOUCH, MERGE_SUM},
        {CMD_DBSIZE, MERGE_SUM},  {CMD_KEYS, MERGE_CONCAT}, {CMD_RANDOMKEY, MERGE_ANY},
        {CMD_FLUSHALL, MERGE_OK}, {CMD_FLUSHDB, MERGE_OK},
    };
    size_t merging = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        assert_int_equal(command_by_id(wanted[i].id)->merge, wanted[i].merge);
    for (size_t id = 0; id < COMMAND_COUNT; id++)
        merging += command_by_id((enum command_id)id)->merge != MERGE_NONE;
    assert_int_equal(merging, sizeof wanted / sizeof *wanted);
}

static void embedded_nodes_answer_exactly_these(void **state)
{
    static const char list[] =
        " GET SET SETNX SETEX PSETEX GETSET GETDEL GETEX APPEND STRLEN GETRANGE SETRANGE INCR DECR"
        " INCRBY DECRBY INCRBYFLOAT MGET MSET MSETNX DEL UNLINK EXISTS TOUCH TYPE EXPIRE PEXPIRE"
        " EXPIREAT PEXPIREAT TTL PTTL EXPIRETIME PEXPIRETIME PERSIST DBSIZE SCAN KEYS RANDOMKEY"
        " FLUSHALL FLUSHDB RENAME RENAMENX COPY SUBSTR ";
    for (size_t id = 0; id < COMMAND_COUNT; id++) {
        const struct command *command = command_by_id((enum command_id)id);
        char word[64];
        snprintf(word, sizeof word, " %s ", command->name);
        bool wanted = strstr(list, word) != NULL;
        if (wanted != !!(command->flags & COMMAND_EMBEDDED))
            fail_msg("%s: embedded nodes %s", command->name, wanted ? "should" : "should not");
    }
}

static void commands_that_wait_are_marked(void **state)
{
    static const char *const names[] = {"BLPOP",    "BRPOP",  "BLMOVE", "BRPOPLPUSH", "BZPOPMIN",
                                        "BZPOPMAX", "BLMPOP", "BZMPOP", "XREAD",      "XREADGROUP"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_true(find(names[i])->flags & COMMAND_BLOCKING);
}

/* ---- what a server says ---------------------------------------------------------------------- */

struct golden_row {
    char name[64], flags[200], specs[200];
    int arity, first, last, step;
};

static FILE *open_golden(const char *path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("%s cannot be read", path);
    return file;
}

static bool has_word(const char *list, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ',') && (at[len] == 0 || at[len] == ','))
            return true;
    return false;
}

static uint16_t server_flags(const struct golden_row *row)
{
    return (uint16_t)((has_word(row->flags, "readonly") ? COMMAND_READ : 0) |
                      (has_word(row->flags, "write") ? COMMAND_WRITE : 0) |
                      (has_word(row->flags, "fast") ? COMMAND_FAST : 0) |
                      (has_word(row->flags, "denyoom") ? COMMAND_DENYOOM : 0) |
                      (has_word(row->flags, "admin") ? COMMAND_ADMIN : 0) |
                      (has_word(row->flags, "blocking") ? COMMAND_BLOCKING : 0));
}

static void compare_positions(const struct golden_row *row, const struct command *command)
{
    char wanted[200];
    switch (command->keys) {
    case KEYS_COUNTED:
        snprintf(wanted, sizeof wanted, "%s%d:keynum:%d", command->last ? "1:range:0:1 " : "",
                 command->first, command->step);
        assert_string_equal(row->specs, wanted);
        assert_true(command->last == 0 || command->last == 1);
        break;
    case KEYS_STREAMS: assert_string_equal(row->specs, "keyword:range:-1:1"); break;
    default:
        assert_int_equal(command->first, row->first);
        assert_int_equal(command->last, row->last);
        assert_int_equal(command->step, row->step);
    }
    if (command->keys == KEYS_RANGE && command->route != COMMAND_REFUSED)
        assert_null(strpbrk(row->specs, "ku")); /* no keyword, keynum, unknown that we overlook */
}

static void compare_command(const struct golden_row *row)
{
    const struct command *command = find(row->name);
    uint16_t compared = COMMAND_READ | COMMAND_WRITE | COMMAND_FAST | COMMAND_DENYOOM |
                        COMMAND_ADMIN | COMMAND_BLOCKING;
    bool is_script = strcmp(command->group, "scripting") == 0;
    bool is_container = command->first == 2 && command->last == 2;
    if (is_script)
        compared &= ~COMMAND_WRITE;
    if (is_container && row->first == 0)
        compared = 0;
    if ((command->flags & compared) != (server_flags(row) & compared))
        fail_msg("%s: the server says %s", row->name, row->flags);
    assert_int_equal(command->arity, row->arity);
    if (!is_container || row->first != 0)
        compare_positions(row, command);
}

/* A subcommand with a key: its container has the key there, and may write if the subcommand may. */
static void compare_subcommand(struct golden_row *row)
{
    *strchr(row->name, '|') = 0;
    const struct command *command = find(row->name);
    assert_int_equal(command->first, row->first);
    assert_int_equal(command->last, row->last);
    assert_int_equal(command->flags & (COMMAND_READ | COMMAND_WRITE),
                     server_flags(row) & (COMMAND_READ | COMMAND_WRITE));
}

static void the_table_says_what_the_server_says(void **state)
{
    struct golden_row row;
    size_t count = 0;
    FILE *file = open_golden(GOLDEN "redis-7.0.15.tsv");
    while (fscanf(file, "%63[^\t]\t%d\t%199[^\t]\t%d\t%d\t%d\t%199[^\n]\n", row.name, &row.arity,
                  row.flags, &row.first, &row.last, &row.step, row.specs) == 7) {
        if (strchr(row.name, '|'))
            compare_subcommand(&row);
        else
            compare_command(&row);
        count++;
    }
    assert_true(feof(file));
    assert_int_equal(count, 253);
    fclose(file);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The keys of an inline request as words in the order of the arguments, or why not. */
static void describe_keys(const char *words, char *ret_text, size_t size)
{
    struct resp_request request;
    struct command_key_range keys;
    char line[512];
    size_t len = (size_t)snprintf(line, sizeof line, "%s\n", words), used = 0, count = 0;
    resp_request_init(&request);
    assert_int_equal(resp_request_parse(&request, line, len, &limits), RESP_DONE);
    struct slice name = resp_request_arg(&request, line, 0);
    const struct command *command = command_find(name.ptr, name.len);
    assert_non_null(command);
    assert_true(command_arity_fits(command, request.arg_count));
    const char *reason = command_find_keys(command, &request, line, &keys);
    ret_text[0] = 0;
    if (reason)
        snprintf(ret_text, size, "%s", reason);
    for (uint32_t i = 1; !reason && i < request.arg_count; i++) {
        bool in_range = i >= keys.first && (i - keys.first) % keys.step == 0 &&
                        (i - keys.first) / keys.step < keys.count;
        struct slice word = resp_request_arg(&request, line, i);
        if (!in_range && i != keys.extra)
            continue;
        count++;
        used += (size_t)snprintf(ret_text + used, size - used, "%s%.*s", used ? " " : "",
                                 (int)word.len, word.ptr);
    }
    if (!reason)
        assert_int_equal(count, keys.count + (keys.extra != 0));
    resp_request_release(&request);
}

static void expect_keys(const char *words, const char *wanted)
{
    char got[512];
    describe_keys(words, got, sizeof got);
    if (strcmp(got, wanted) != 0)
        fail_msg("%s: got '%s', wanted '%s'", words, got, wanted);
}

static void keys_are_where_the_server_finds_them(void **state)
{
    char words[200], keys[200];
    size_t count = 0;
    FILE *file = open_golden(GOLDEN "redis-7.0.15-keys.tsv");
    for (; fscanf(file, "%199[^\t]\t%199[^\n]\n", words, keys) == 2; count++)
        expect_keys(words, keys);
    assert_true(feof(file));
    assert_int_equal(count, 61);
    fclose(file);
}

static void a_request_may_have_no_keys(void **state)
{
    expect_keys("EVAL script 0 a", "");
    expect_keys("FCALL f 0", "");
    expect_keys("OBJECT HELP", "");
    expect_keys("MEMORY STATS", "");
    expect_keys("PING a", "");
    expect_keys("ZUNIONSTORE d 0 a", "d");
}

static void a_key_count_has_to_be_true(void **state)
{
    expect_keys("EVAL script x a", "value is not an integer or out of range");
    expect_keys("EVAL script -1 a", "Number of keys can't be negative");
    expect_keys("EVAL script 2 a", "Number of keys can't be greater than number of args");
    expect_keys("EVAL script 9223372036854775807 a",
                "Number of keys can't be greater than number of args");
    expect_keys("MSETEX 2 a 1 b", "Number of keys can't be greater than number of args");
    expect_keys("MSETEX 2 a 1 b 2 EX 10", "a b");
}

static void pairs_have_to_be_pairs(void **state)
{
    const char *wanted = "wrong number of arguments: every key needs a value";
    expect_keys("MSET a 1 b", wanted);
    expect_keys("MSETNX a 1 b 2 c", wanted);
}

static void streams_are_found_after_their_options(void **state)
{
    const char *unbalanced = "Unbalanced list of streams: each needs an ID or '$'";
    expect_keys("XREADGROUP GROUP block streams STREAMS a b > >", "a b");
    expect_keys("xread count 1 streams a 0", "a");
    expect_keys("XREAD STREAMS a b 0", unbalanced);
    expect_keys("XREAD COUNT 1 STREAMS", "syntax error");
    expect_keys("XREAD a b c", "syntax error");
    expect_keys("XREAD BLOCK 0 STREAMS a $", "a");
    expect_keys("XREADGROUP GROUP g c COUNT 1 block 0 NOACK STREAMS a b > >", "a b");
}

static void sort_may_not_read_keys_of_other_nodes(void **state)
{
    const char *wanted = "BY and GET patterns of SORT name keys that may live on other nodes";
    expect_keys("SORT a BY weight_*", wanted);
    expect_keys("SORT a GET o_*", wanted);
    expect_keys("SORT a GET # GET o_*", wanted);
    expect_keys("SORT a GET #x", wanted);
    expect_keys("sort_ro a limit 0 1 get x", wanted);
    expect_keys("SORT a BY nosort GET #", "a");
    expect_keys("SORT a LIMIT by 1 STORE d", "a d");
    expect_keys("SORT a STORE", "a");
}

static void georadius_may_store(void **state)
{
    expect_keys("GEORADIUS a 1 2 3 m STORE c STOREDIST d", "a d");
    expect_keys("GEORADIUS a 1 2 3 m STORE", "a");
    expect_keys("GEORADIUSBYMEMBER a store 3 m store d", "a d");
    expect_keys("GEORADIUSBYMEMBER a m 3 store d", "a");
}

/* ---- declared commands ----------------------------------------------------------------------- */

static void a_module_command_can_be_declared_once(void **state)
{
    assert_null(command_find("JSON.MGET", 9));
    assert_true(command_declare("JSON.MGET", -3, 1, -2, 1, false));
    assert_false(command_declare("json.mget", -3, 1, -2, 1, false));
    assert_false(command_declare("get", 2, 1, 1, 1, false));
    expect_keys("json.mget a b $", "a b");
    const struct command *command = find("Json.Mget");
    assert_int_equal(command->id, COMMAND_COUNT);
    assert_int_equal(command_count(), COMMAND_COUNT + 1);
    assert_ptr_equal(command_by_id((enum command_id)command->id), command);
    assert_int_equal(command->flags, COMMAND_READ);
}

static void a_request_may_end_before_its_keys(void **state)
{
    assert_true(command_declare("MODULE.FAR", -1, 3, 4, 1, true));
    expect_keys("MODULE.FAR", "");
    expect_keys("MODULE.FAR 1 2", "");
    expect_keys("MODULE.FAR 1 2 a", "a");
    expect_keys("MODULE.FAR 1 2 a b c", "a b");
}

static void a_declaration_has_to_make_sense(void **state)
{
    char long_name[66];
    memset(long_name, 'x', sizeof long_name);
    long_name[65] = 0;
    assert_false(command_declare("", 2, 1, 1, 1, true));
    assert_false(command_declare(long_name, 2, 1, 1, 1, true));
    assert_false(command_declare("BF.ADD", 0, 1, 1, 1, true));
    assert_false(command_declare("BF.ADD", 3, 0, 1, 1, true));
    assert_false(command_declare("BF.ADD", 3, 1, 1, 0, true));
    assert_false(command_declare("BF.ADD", 3, 2, 1, 1, true));
    assert_null(command_find("BF.ADD", 6));
}

static void the_table_of_declared_commands_has_an_end(void **state)
{
    static char names[300][16];
    size_t declared = 0;
    for (size_t i = 0; i < 300; i++) {
        snprintf(names[i], sizeof names[i], "MODULE.X%zu", i);
        declared += command_declare(names[i], -2, 1, -1, 1, true);
    }
    assert_int_equal(command_count(), COMMAND_COUNT + 256);
    for (size_t i = 0; i < declared; i++)
        assert_string_equal(find(names[i])->name, names[i]);
    assert_null(command_find("MODULE.X299", 11));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_is_found_by_its_name_in_any_case),
        cmocka_unit_test(a_name_that_is_nearly_right_is_not_found),
        cmocka_unit_test(names_of_any_length_and_content_do_no_harm),
        cmocka_unit_test(every_row_makes_sense),
        cmocka_unit_test(commands_split_over_nodes_have_the_right_merge),
        cmocka_unit_test(embedded_nodes_answer_exactly_these),
        cmocka_unit_test(commands_that_wait_are_marked),
        cmocka_unit_test(the_table_says_what_the_server_says),
        cmocka_unit_test(keys_are_where_the_server_finds_them),
        cmocka_unit_test(a_request_may_have_no_keys),
        cmocka_unit_test(a_key_count_has_to_be_true),
        cmocka_unit_test(pairs_have_to_be_pairs),
        cmocka_unit_test(streams_are_found_after_their_options),
        cmocka_unit_test(sort_may_not_read_keys_of_other_nodes),
        cmocka_unit_test(georadius_may_store),
        cmocka_unit_test(a_module_command_can_be_declared_once),
        cmocka_unit_test(a_request_may_end_before_its_keys),
        cmocka_unit_test(a_declaration_has_to_make_sense),
        cmocka_unit_test(the_table_of_declared_commands_has_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
