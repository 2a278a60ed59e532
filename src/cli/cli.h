/*
 * The command line: a table of commands, each with a table of its options, one parser for all, and
 * what every command says in the same way. `--help`, the manual page and the suggestions for slips
 * of the pen all come from the tables.
 *
 * Exit codes: 0 done, 1 could not be done, 2 asked wrongly.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2 };

struct cli_option {
    const char *name;     /* without "--" */
    char letter;          /* 0: none */
    const char *argument; /* what its value is, as "FILE"; NULL: it has none */
    const char *help;
};

struct cli_args;

struct cli_command {
    const char *name;
    const char *operands; /* as "KEY…"; "" when it takes none */
    const char *summary;  /* one line */
    const char *details;  /* paragraphs, for `clockwise COMMAND --help` and the manual page */
    const struct cli_option *options; /* ends with one without a name */
    int (*run)(const struct cli_args *args);
};

struct cli_given {
    const struct cli_option *option;
    const char *value; /* NULL for an option without one */
};

/* What was typed behind the command. */
struct cli_args {
    const struct cli_command *command;
    struct cli_given *given; /* in the order in which they were typed */
    size_t given_count;
    const char **operands;
    size_t operand_count;
};

/* Runs the command that argv asks for; the exit code. */
int cli_main(int argc, char **argv);

/* All commands, ends with one without a name. */
extern const struct cli_command *const cli_commands[];

/* ---- arguments (args.c) ---------------------------------------------------------------------- */

/* Reads what stands behind the command's name. CLI_OK, or CLI_USAGE or CLI_FAILED after saying why.
 * The texts stay argv's; cli_args_release() frees the rest. */
int cli_args_parse(const struct cli_command *command, int argc, char **argv,
                   struct cli_args *ret_args);
void cli_args_release(struct cli_args *args);
bool cli_has(const struct cli_args *args, const char *option);
/* The value that was given last, or NULL. */
const char *cli_value(const struct cli_args *args, const char *option);

/* ---- saying (say.c) -------------------------------------------------------------------------- */

/* "clockwise: …" on standard error; returns CLI_FAILED. */
int cli_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same with a hint at --help; returns CLI_USAGE. */
int cli_usage(const struct cli_command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Writes a text to standard output and releases it; CLI_OK, or CLI_FAILED after saying why. */
int cli_print(struct buffer *text);
/* Looks whether everything reached standard output. */
int cli_finish_output(void);

/* ---- help (help.c, man.c) -------------------------------------------------------------------- */

void cli_print_overview(struct buffer *out);
void cli_print_command_help(const struct cli_command *command, struct buffer *out);
void cli_print_man(struct buffer *out);

#endif
