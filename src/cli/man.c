/*
 * The manual page: prose around what the tables of commands and options say. Lines of the source
 * are wrapped, as troff does not care and people who read diffs do.
 */
#include <stdbool.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "control/options.h"
#include "control/version.h"

enum { MAN_LINE_MAX = 90 };

/* ---- troff ----------------------------------------------------------------------------------- */

static void append_word(const char *word, size_t len, struct buffer *out)
{
    for (size_t i = 0; i < len; i++)
        if (word[i] == '-')
            buffer_append_text(out, "\\-");
        else if (word[i] == '\\')
            buffer_append_text(out, "\\e");
        else
            buffer_append(out, word + i, 1);
}

/* A paragraph, filled. A word at the start of a line that troff would take for a request is kept
 * from it by \&. */
static void append_filled(const char *text, size_t len, struct buffer *out)
{
    size_t column = 0;
    for (size_t i = 0; i < len;) {
        size_t blanks = strspn(text + i, " \n");
        i += blanks;
        if (i >= len)
            break;
        size_t word = strcspn(text + i, " \n");
        if (i + word > len)
            word = len - i;
        if (column && column + word > MAN_LINE_MAX) {
            buffer_append_text(out, "\n");
            column = 0;
        }
        if (column)
            buffer_append_text(out, " ");
        else if (text[i] == '.' || text[i] == '\'')
            buffer_append_text(out, "\\&");
        append_word(text + i, word, out);
        column += word + 1;
        i += word;
    }
    buffer_append_text(out, "\n");
}

/* Paragraphs between empty lines; lines that begin with blanks are examples, left as they are. */
static void append_paragraphs(const char *text, struct buffer *out)
{
    for (size_t i = 0; text[i];) {
        const char *end = strstr(text + i, "\n\n");
        size_t len = end ? (size_t)(end - (text + i)) : strlen(text + i);
        bool is_example = text[i] == ' ';
        buffer_append_text(out, is_example ? ".PP\n.nf\n" : ".PP\n");
        if (is_example) {
            append_word(text + i, len, out);
            if (text[i + len - 1] != '\n')
                buffer_append_text(out, "\n");
            buffer_append_text(out, ".fi\n");
        } else {
            append_filled(text + i, len, out);
        }
        i += len;
        i += strspn(text + i, "\n");
    }
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void print_option(const struct cli_option *option, struct buffer *out)
{
    buffer_append_text(out, ".TP\n.B ");
    if (option->letter)
        buffer_printf(out, "\\-%c, ", option->letter);
    buffer_append_text(out, "\\-\\-");
    append_word(option->name, strlen(option->name), out);
    if (option->argument)
        buffer_printf(out, " %s", option->argument);
    buffer_append_text(out, "\n");
    append_filled(option->help, strlen(option->help), out);
}

static void print_command(const struct cli_command *command, struct buffer *out)
{
    buffer_printf(out, ".SS clockwise %s [OPTION\\[u2026]]%s%s\n", command->name,
                  *command->operands ? " " : "", command->operands);
    append_filled(command->summary, strlen(command->summary), out);
    append_paragraphs(command->details, out);
    for (const struct cli_option *option = command->options; option->name; option++)
        print_option(option, out);
}

static void print_configuration(struct buffer *out)
{
    static const char introduction[] =
        "The file is YAML. A size is a whole number with b, kb, mb, gb or tb (by 1024), a duration "
        "one with ms, s, m or h; an address is host:port, [v6]:port or unix:/path. The router "
        "reads "
        "it when it starts.";
    buffer_append_text(out, ".SH CONFIGURATION\n");
    append_filled(introduction, sizeof introduction - 1, out);
    for (size_t i = 0; i < option_count(); i++) {
        struct buffer path = BUFFER_INIT, text = BUFFER_INIT;
        option_describe_path(option_by_index(i), &path);
        option_describe(option_by_index(i), &text);
        buffer_append_text(out, ".TP\n.B ");
        append_word(buffer_bytes(&path), path.len, out);
        buffer_append_text(out, "\n");
        buffer_append(&text, "", 1);
        append_filled(buffer_bytes(&text), text.len - 1, out);
        buffer_release(&path);
        buffer_release(&text);
    }
}

static void print_rest(struct buffer *out)
{
    static const char environment[] =
        "NO_COLOR, if set and not empty, keeps colours from terminals.";
    static const char exit_status[] = "0 when all was done, 1 when something could not be done "
                                      "(standard error says what), 2 when "
                                      "it was asked wrongly.";
    static const char files[] =
        "./clockwise-data is the folder under which embedded nodes keep their data, unless another "
        "is set.";
    buffer_append_text(out, ".SH ENVIRONMENT\n");
    append_filled(environment, sizeof environment - 1, out);
    buffer_append_text(out, ".SH EXIT STATUS\n");
    append_filled(exit_status, sizeof exit_status - 1, out);
    buffer_append_text(out, ".SH FILES\n");
    append_filled(files, sizeof files - 1, out);
    buffer_append_text(out, ".SH SEE ALSO\n.BR redis\\-cli (1)\n");
}

void cli_print_man(struct buffer *out)
{
    static const char description[] =
        "clockwise gives applications one address for the Redis or Valkey servers that they "
        "already "
        "run, spreads the keys over them by consistent hashing, and tells beforehand which keys "
        "move when a server joins, leaves or changes its weight.";
    buffer_append_text(out, ".\\\" Printed by `clockwise help --man`; do not edit.\n"
                            ".TH CLOCKWISE 1 \"\" \"clockwise " CLOCKWISE_VERSION "\"\n"
                            ".SH NAME\n"
                            "clockwise \\- one address for many Redis servers, by consistent "
                            "hashing\n"
                            ".SH SYNOPSIS\n.B clockwise\n.I COMMAND\n[\\fIOPTION\\fR\\[u2026]]\n"
                            ".SH DESCRIPTION\n");
    append_filled(description, sizeof description - 1, out);
    buffer_append_text(out, ".SH COMMANDS\n");
    for (size_t i = 0; cli_commands[i]; i++)
        print_command(cli_commands[i], out);
    print_configuration(out);
    print_rest(out);
}
