#include "cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "control/table.h"

/* Errors quote what was typed or read: nothing of it may steer a terminal. */
static void say(const char *format, va_list args)
{
    char line[2048];
    struct buffer safe = BUFFER_INIT;
    vsnprintf(line, sizeof line, format, args);
    for (char *part = line, *end; *part; part = *end ? end + 1 : end) {
        end = part + strcspn(part, "\n");
        table_append_safe(&safe, part, (size_t)(end - part));
        if (*end)
            buffer_append_text(&safe, "\n");
    }
    fprintf(stderr, "clockwise: %.*s\n", (int)safe.len, safe.len ? buffer_bytes(&safe) : "");
    buffer_release(&safe);
}

int cli_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    return CLI_FAILED;
}

int cli_usage(const struct cli_command *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(format, args);
    va_end(args);
    fprintf(stderr, "Try `clockwise %s%s--help`.\n", command ? command->name : "",
            command ? " " : "");
    return CLI_USAGE;
}

int cli_print(struct buffer *text)
{
    if (text->len)
        fwrite(buffer_bytes(text), 1, text->len, stdout);
    buffer_release(text);
    return cli_finish_output();
}

int cli_finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return CLI_OK;
    return cli_fail("cannot write to standard output: %s", strerror(errno));
}
