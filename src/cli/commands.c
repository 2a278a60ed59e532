#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "cli/commands.h"
#include "control/version.h"

const struct cli_command *const cli_commands[] = {
    &command_serve,  &command_locate,     &command_plan, &command_compare,
    &command_import, &command_apply,      &command_node, &command_profiles,
    &command_status, &command_transition, &command_help, NULL,
};

static const struct cli_command *find_command(const char *name)
{
    for (size_t i = 0; cli_commands[i]; i++)
        if (strcmp(cli_commands[i]->name, name) == 0)
            return cli_commands[i];
    return NULL;
}

static int unknown_command(const char *name)
{
    const char *names[16];
    size_t count = 0;
    for (; cli_commands[count]; count++)
        names[count] = cli_commands[count]->name;
    const char *nearest = suggest_nearest(name, names, count);
    if (nearest)
        return cli_usage(NULL, "unknown command '%s'; did you mean '%s'?", name, nearest);
    return cli_usage(NULL, "unknown command '%s'", name);
}

static int print_help_of(const struct cli_command *command)
{
    struct buffer out = BUFFER_INIT;
    if (command)
        cli_print_command_help(command, &out);
    else
        cli_print_overview(&out);
    return cli_print(&out);
}

static int run_command(const struct cli_command *command, int argc, char **argv)
{
    struct cli_args args;
    int status = cli_args_parse(command, argc, argv, &args);
    if (status != CLI_OK)
        return status;
    status = cli_has(&args, "help") ? print_help_of(command) : command->run(&args);
    cli_args_release(&args);
    return status;
}

static int run_help(const struct cli_args *args)
{
    struct buffer out = BUFFER_INIT;
    if (args->operand_count) {
        const struct cli_command *command = find_command(args->operands[0]);
        return command ? print_help_of(command) : unknown_command(args->operands[0]);
    }
    if (cli_has(args, "reference"))
        help_print_reference(&out);
    else if (cli_has(args, "man"))
        cli_print_man(&out);
    else if (cli_has(args, "example"))
        help_print_example(&out);
    else
        cli_print_overview(&out);
    return cli_print(&out);
}

static const struct cli_option help_options[] = {
    {"reference", 0, NULL, "Print the reference of the configuration, in Markdown."},
    {"example", 0, NULL, "Print a configuration to start from."},
    {"man", 0, NULL, "Print the manual page, for man -l -."},
    {NULL, 0, NULL, NULL},
};

const struct cli_command command_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "Explain a command, or the configuration.",
    .details = "",
    .options = help_options,
    .run = run_help,
};

int cli_main(int argc, char **argv)
{
    if (argc < 2) {
        print_help_of(NULL);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("clockwise %s\n", CLOCKWISE_VERSION);
        return cli_finish_output();
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_help_of(NULL);
    if (argv[1][0] == '-')
        return cli_usage(NULL, "unknown option %s; options stand behind a command", argv[1]);
    const struct cli_command *command = find_command(argv[1]);
    return command ? run_command(command, argc - 2, argv + 2) : unknown_command(argv[1]);
}
