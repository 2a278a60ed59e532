#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static const struct cli_option options[] = {
    {"config", 'c', "FILE", "."}, {"json", 'j', NULL, "."}, {"verbose", 'v', NULL, "."},
    {"add", 0, "ID", "."},        {NULL, 0, NULL, NULL},
};
static const struct cli_command command = {"try", "[KEY…]", ".", "", options, NULL};
static const struct cli_command without = {"bare", "", ".", "", options, NULL};

enum { WORDS_MAX = 8, WORD_SIZE = 32 };

/* The words end with NULL. What is parsed points to them until the next call. */
static int parse(const struct cli_command *what, struct cli_args *ret_args, ...)
{
    static char words[WORDS_MAX][WORD_SIZE];
    char *argv[WORDS_MAX];
    int argc = 0;
    va_list list;
    va_start(list, ret_args);
    for (const char *word; (word = va_arg(list, const char *)); argc++) {
        snprintf(words[argc], WORD_SIZE, "%s", word);
        argv[argc] = words[argc];
    }
    va_end(list);
    return cli_args_parse(what, argc, argv, ret_args);
}

static void values_may_be_written_in_four_ways(void **state)
{
    static const char *const ways[][2] = {
        {"--config", "a.yaml"}, {"--config=a.yaml", NULL}, {"-c", "a.yaml"}, {"-ca.yaml", NULL}};
    for (size_t i = 0; i < 4; i++) {
        struct cli_args args;
        assert_int_equal(parse(&command, &args, ways[i][0], ways[i][1], NULL), CLI_OK);
        assert_string_equal(cli_value(&args, "config"), "a.yaml");
        assert_int_equal(args.operand_count, 0);
        cli_args_release(&args);
    }
}

static void flags_operands_and_options_mix(void **state)
{
    struct cli_args args;
    assert_int_equal(parse(&command, &args, "k1", "-jv", "k2", "--", "-k3", NULL), CLI_OK);
    assert_true(cli_has(&args, "json") && cli_has(&args, "verbose") && !cli_has(&args, "config"));
    assert_int_equal(args.operand_count, 3);
    assert_string_equal(args.operands[0], "k1");
    assert_string_equal(args.operands[2], "-k3");
    cli_args_release(&args);
}

static void a_dash_and_an_empty_word_are_operands(void **state)
{
    struct cli_args args;
    assert_int_equal(parse(&command, &args, "-", "", NULL), CLI_OK);
    assert_int_equal(args.operand_count, 2);
    cli_args_release(&args);
}

static void repeated_options_keep_their_order_and_the_last_counts(void **state)
{
    struct cli_args args;
    assert_int_equal(parse(&command, &args, "--add", "a", "--add=b", "--add", "c", NULL), CLI_OK);
    assert_int_equal(args.given_count, 3);
    assert_string_equal(args.given[0].value, "a");
    assert_string_equal(cli_value(&args, "add"), "c");
    cli_args_release(&args);
}

static void an_empty_value_is_a_value(void **state)
{
    struct cli_args args;
    assert_int_equal(parse(&command, &args, "--config=", NULL), CLI_OK);
    assert_string_equal(cli_value(&args, "config"), "");
    cli_args_release(&args);
}

static void what_is_asked_wrongly_is_refused(void **state)
{
    struct cli_args args;
    assert_int_equal(parse(&command, &args, "--confg", "x", NULL), CLI_USAGE);
    assert_int_equal(parse(&command, &args, "-x", NULL), CLI_USAGE);
    assert_int_equal(parse(&command, &args, "--config", NULL), CLI_USAGE);
    assert_int_equal(parse(&command, &args, "--json=yes", NULL), CLI_USAGE);
    assert_int_equal(parse(&without, &args, "operand", NULL), CLI_USAGE);
}

static void help_is_an_option_of_every_command(void **state)
{
    struct cli_args args;
    assert_int_equal(parse(&without, &args, "-h", "x", NULL), CLI_OK);
    assert_true(cli_has(&args, "help"));
    cli_args_release(&args);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_may_be_written_in_four_ways),
        cmocka_unit_test(flags_operands_and_options_mix),
        cmocka_unit_test(a_dash_and_an_empty_word_are_operands),
        cmocka_unit_test(repeated_options_keep_their_order_and_the_last_counts),
        cmocka_unit_test(an_empty_value_is_a_value),
        cmocka_unit_test(what_is_asked_wrongly_is_refused),
        cmocka_unit_test(help_is_an_option_of_every_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
