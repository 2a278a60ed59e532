#include "control/problems.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void problems_init(struct problems *problems)
{
    problems->count = problems->left_out = 0;
}

static int is_before(unsigned line, unsigned column, const struct problem *problem)
{
    return line < problem->line || (line == problem->line && column < problem->column);
}

/* Makes room at the place of a line and column; NULL when the list is full of earlier ones. */
static struct problem *make_room(struct problems *problems, unsigned line, unsigned column)
{
    size_t at = problems->count;
    while (at > 0 && is_before(line, column, &problems->items[at - 1]))
        at--;
    if (problems->count == PROBLEM_COUNT_MAX)
        problems->left_out++;
    else
        problems->count++;
    if (at == PROBLEM_COUNT_MAX)
        return NULL;
    struct problem *place = &problems->items[at];
    memmove(place + 1, place, (problems->count - 1 - at) * sizeof *place);
    return place;
}

/* Messages quote what stands in the file: nothing of it may steer a terminal. */
static void mask_control_characters(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            *text = '?';
}

void problems_add(struct problems *problems, unsigned line, unsigned column, const char *format,
                  ...)
{
    struct problem *problem = make_room(problems, line, column);
    if (!problem)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(problem->message, sizeof problem->message, format, args);
    va_end(args);
    mask_control_characters(problem->message);
    problem->line = line;
    problem->column = column;
}

void problems_print(const struct problems *problems, const char *file, struct buffer *out)
{
    for (size_t i = 0; i < problems->count; i++) {
        const struct problem *problem = &problems->items[i];
        if (problem->line)
            buffer_printf(out, "%s:%u:%u: %s\n", file, problem->line, problem->column,
                          problem->message);
        else
            buffer_printf(out, "%s: %s\n", file, problem->message);
    }
    if (problems->left_out)
        buffer_printf(out, "%s: and %zu more\n", file, problems->left_out);
}
