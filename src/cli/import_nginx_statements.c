#include "cli/import_nginx_statements.h"

#include <string.h>

void nginx_reader_init(struct nginx_reader *reader, struct import *import)
{
    memset(reader, 0, sizeof *reader);
    reader->import = import;
    reader->at = import->text;
    reader->line = 1;
}

static void step(struct nginx_reader *reader)
{
    reader->line += *reader->at++ == '\n';
}

static void skip_blanks(struct nginx_reader *reader)
{
    for (;;) {
        if (*reader->at == '#')
            reader->at += strcspn(reader->at, "\n");
        else if (*reader->at && strchr(" \t\r\n", *reader->at))
            step(reader);
        else
            return;
    }
}

/* The length of a word: up to a blank or to what ends a statement. "${" is part of it. */
static size_t word_len(const char *at)
{
    size_t len = 0;
    while (at[len] && !strchr(" \t\r\n;{", at[len])) {
        bool is_pair = (at[len] == '\\' && at[len + 1]) || (at[len] == '$' && at[len + 1] == '{');
        len += is_pair ? 2 : 1;
    }
    return len;
}

static size_t quoted_len(const char *at)
{
    size_t len = 1;
    while (at[len] && at[len] != at[0])
        len += at[len] == '\\' && at[len + 1] ? 2 : 1;
    return len + 1; /* the quote at the end, or the end of the text */
}

/* Without quotes and the backslashes that protect a character. */
static const char *copy_word(struct nginx_reader *reader, const char *from, size_t len)
{
    char *copy = import_alloc(reader->import, len + 1);
    size_t used = 0;
    if (!copy)
        return NULL;
    for (size_t i = 0; i < len; i++) {
        if (from[i] == '\\' && i + 1 < len && strchr("\"'\\ \t;{}#", from[i + 1]))
            i++;
        copy[used++] = from[i];
    }
    return copy;
}

static const char *take_word(struct nginx_reader *reader)
{
    const char *from = reader->at;
    bool is_quoted = *from == '"' || *from == '\'';
    size_t len = is_quoted ? quoted_len(from) : word_len(from);
    if (is_quoted && from[len - 1] == 0) {
        import_remark(reader->import, IMPORT_WRONG, reader->line, NULL,
                      "a %c without its end; close it", *from);
        return NULL;
    }
    for (size_t i = 0; i < len; i++)
        step(reader);
    return is_quoted ? copy_word(reader, from + 1, len - 2) : copy_word(reader, from, len);
}

/* The length of what may hold braces that count for nothing: a string, or a comment. */
static size_t lua_atom_len(const char *at)
{
    if (at[0] == '-' && at[1] == '-')
        return strcspn(at, "\n");
    if (at[0] != '"' && at[0] != '\'')
        return 1;
    size_t len = 1;
    while (at[len] && at[len] != '\n' && at[len] != at[0])
        len += at[len] == '\\' && at[len + 1] ? 2 : 1;
    return len + (at[len] == at[0]);
}

/* Lua between braces. */
static void skip_block(struct nginx_reader *reader)
{
    unsigned depth = 1;
    while (*reader->at && depth > 0) {
        depth += (*reader->at == '{') - (*reader->at == '}');
        for (size_t len = lua_atom_len(reader->at); len > 0; len--)
            step(reader);
    }
}

static bool is_lua(const struct nginx_statement *statement)
{
    return statement->count > 0 && strstr(statement->words[statement->count - 1], "_lua_block");
}

const struct nginx_statement *nginx_reader_next(struct nginx_reader *reader)
{
    struct nginx_statement *statement = &reader->statement;
    memset(statement, 0, sizeof *statement);
    for (;;) {
        skip_blanks(reader);
        if (statement->count == 0)
            statement->line = reader->line;
        if (*reader->at == 0)
            return statement->count ? statement : NULL;
        if (strchr(";{}", *reader->at)) {
            statement->end = *reader->at;
            step(reader);
            if (statement->end == '{' && is_lua(statement)) {
                skip_block(reader);
                statement->end = ';';
            }
            return statement;
        }
        if (statement->count == NGINX_WORDS_MAX) {
            import_remark(reader->import, IMPORT_WRONG, statement->line, NULL,
                          "more than %d words before a ';'; is one missing?", NGINX_WORDS_MAX);
            return NULL;
        }
        const char *word = take_word(reader);
        if (!word)
            return NULL;
        statement->words[statement->count++] = word;
    }
}
