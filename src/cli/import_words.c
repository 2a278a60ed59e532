#include "cli/import_words.h"

#include <string.h>

void import_lines_init(struct import_lines *lines, struct import *import)
{
    memset(lines, 0, sizeof *lines);
    lines->import = import;
    lines->at = import->text;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Copies one word and gives the place behind it. */
static const char *cut_word(struct import_line *line, const char *at, const char *end, char **to)
{
    char quote = 0;
    for (; at < end && (quote || (!is_blank(*at) && *at != '#')); at++) {
        if (*at == quote)
            quote = 0;
        else if (!quote && (*at == '"' || *at == '\''))
            quote = *at;
        else if (*at == '\\' && quote != '\'' && at + 1 < end && at[1] != '\r')
            *(*to)++ = *++at;
        else
            *(*to)++ = *at;
        line->has_variable |= quote == '"' && *at == '$';
    }
    *(*to)++ = 0;
    return at;
}

/* Every word is at most as long as it is in the file, and its zero byte stands for the blank, or
 * for the end of the line. */
static void cut_line(struct import_line *line, const char *at, const char *end, char *to)
{
    line->count = 0;
    line->is_cut = line->has_variable = false;
    for (;;) {
        while (at < end && is_blank(*at))
            at++;
        if (at == end || *at == '#')
            break;
        line->is_cut = line->count == IMPORT_WORDS_MAX;
        if (line->is_cut)
            break;
        line->words[line->count++] = to;
        at = cut_word(line, at, end, &to);
    }
    line->words[line->count] = NULL;
}

const struct import_line *import_lines_next(struct import_lines *lines)
{
    struct import_line *line = &lines->line;
    while (*lines->at) {
        const char *start = lines->at;
        size_t len = strcspn(start, "\n");
        lines->at = start + len + (start[len] == '\n');
        line->number++;
        char *copy = import_alloc(lines->import, len + 1);
        if (!copy)
            return NULL;
        cut_line(line, start, start + len, copy);
        if (line->count)
            return line;
    }
    return NULL;
}
