/*
 * Reads options and operands as people expect it: --name VALUE, --name=VALUE, -n VALUE, -nVALUE,
 * flags in one word (-ab), options and operands in any order, "--" before operands that begin with
 * a dash.
 */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

enum { OPTIONS_MAX = 32 };

struct parsing {
    struct cli_args *args;
    int argc, at;
    char **argv;
};

static const struct cli_option help_option = {"help", 'h', NULL, "Print this and end."};

static const struct cli_option *find_long(const struct cli_command *command, const char *name,
                                          size_t len)
{
    if (len == 4 && memcmp(name, "help", 4) == 0)
        return &help_option;
    for (const struct cli_option *option = command->options; option->name; option++)
        if (strlen(option->name) == len && memcmp(option->name, name, len) == 0)
            return option;
    return NULL;
}

static const struct cli_option *find_letter(const struct cli_command *command, char letter)
{
    if (letter == 'h')
        return &help_option;
    for (const struct cli_option *option = command->options; option->name; option++)
        if (option->letter == letter)
            return option;
    return NULL;
}

static int unknown_option(const struct cli_command *command, const char *name, size_t len)
{
    const char *names[OPTIONS_MAX];
    char word[SUGGEST_LEN_MAX + 1];
    size_t count = 0;
    names[count++] = help_option.name;
    for (const struct cli_option *option = command->options; option->name; option++)
        if (count < OPTIONS_MAX)
            names[count++] = option->name;
    size_t word_len = len < SUGGEST_LEN_MAX ? len : SUGGEST_LEN_MAX;
    memcpy(word, name, word_len);
    word[word_len] = 0;
    const char *nearest = suggest_nearest(word, names, count);
    if (nearest)
        return cli_usage(command, "unknown option --%s; did you mean --%s?", word, nearest);
    return cli_usage(command, "unknown option --%s", word);
}

static void take(struct parsing *parsing, const struct cli_option *option, const char *value)
{
    parsing->args->given[parsing->args->given_count++] = (struct cli_given){option, value};
}

/* The value of an option: what stands behind it in its own word, or the next word. */
static int take_with_value(struct parsing *parsing, const struct cli_option *option,
                           const char *value)
{
    if (!value && ++parsing->at < parsing->argc)
        value = parsing->argv[parsing->at];
    if (!value)
        return cli_usage(parsing->args->command, "--%s needs a value: --%s %s", option->name,
                         option->name, option->argument);
    take(parsing, option, value);
    return CLI_OK;
}

static int parse_long(struct parsing *parsing, const char *word)
{
    const struct cli_command *command = parsing->args->command;
    const char *equals = strchr(word, '=');
    size_t len = equals ? (size_t)(equals - word) : strlen(word);
    const struct cli_option *option = find_long(command, word, len);
    if (!option)
        return unknown_option(command, word, len);
    if (option->argument)
        return take_with_value(parsing, option, equals ? equals + 1 : NULL);
    if (equals)
        return cli_usage(command, "--%s takes no value", option->name);
    take(parsing, option, NULL);
    return CLI_OK;
}

static int parse_letters(struct parsing *parsing, const char *letters)
{
    for (; *letters; letters++) {
        const struct cli_option *option = find_letter(parsing->args->command, *letters);
        if (!option)
            return cli_usage(parsing->args->command, "unknown option -%c", *letters);
        if (option->argument)
            return take_with_value(parsing, option, letters[1] ? letters + 1 : NULL);
        take(parsing, option, NULL);
    }
    return CLI_OK;
}

static int parse_words(struct parsing *parsing)
{
    bool only_operands = false;
    for (; parsing->at < parsing->argc; parsing->at++) {
        const char *word = parsing->argv[parsing->at];
        int status = CLI_OK;
        if (only_operands || word[0] != '-' || word[1] == 0)
            parsing->args->operands[parsing->args->operand_count++] = word;
        else if (strcmp(word, "--") == 0)
            only_operands = true;
        else
            status = word[1] == '-' ? parse_long(parsing, word + 2)
                                    : parse_letters(parsing, word + 1);
        if (status != CLI_OK)
            return status;
    }
    return CLI_OK;
}

/* One word can hold as many flags as it has letters. */
static size_t most_options(int argc, char **argv)
{
    size_t most = 1;
    for (int i = 0; i < argc; i++)
        most += strlen(argv[i]);
    return most;
}

int cli_args_parse(const struct cli_command *command, int argc, char **argv,
                   struct cli_args *ret_args)
{
    struct cli_args args = {.command = command};
    struct parsing parsing = {.args = &args, .argc = argc, .argv = argv};
    args.given = calloc(most_options(argc, argv), sizeof *args.given);
    args.operands = calloc((size_t)argc + 1, sizeof *args.operands);
    int status = args.given && args.operands ? parse_words(&parsing) : cli_fail("out of memory");
    if (status == CLI_OK && args.operand_count && !*command->operands && !cli_has(&args, "help"))
        status = cli_usage(command, "'%s' is too much: %s takes no such argument", args.operands[0],
                           command->name);
    if (status != CLI_OK)
        cli_args_release(&args);
    else
        *ret_args = args;
    return status;
}

void cli_args_release(struct cli_args *args)
{
    free(args->given);
    free(args->operands);
    args->given = NULL;
    args->operands = NULL;
}

const char *cli_value(const struct cli_args *args, const char *option)
{
    for (size_t i = args->given_count; i-- > 0;)
        if (strcmp(args->given[i].option->name, option) == 0)
            return args->given[i].value;
    return NULL;
}

bool cli_has(const struct cli_args *args, const char *option)
{
    for (size_t i = 0; i < args->given_count; i++)
        if (strcmp(args->given[i].option->name, option) == 0)
            return true;
    return false;
}
