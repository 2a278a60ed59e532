/*
 * nginx's configuration as statements: words up to ';', '{' or '}'.
 */
#ifndef CLI_IMPORT_NGINX_STATEMENTS_H
#define CLI_IMPORT_NGINX_STATEMENTS_H

#include "cli/import.h"

enum { NGINX_WORDS_MAX = 64 };

struct nginx_statement {
    unsigned line; /* of its first word */
    size_t count;
    const char *words[NGINX_WORDS_MAX + 1]; /* behind the last: NULL */
    char end;                               /* ';', '{', '}', or 0 at the end of the text */
};

struct nginx_reader {
    struct import *import;
    const char *at;
    unsigned line;
    struct nginx_statement statement;
};

void nginx_reader_init(struct nginx_reader *reader, struct import *import);
/* The next statement; blocks of Lua are stepped over. NULL behind the last, when memory is out, or
 * after a remark: a quote without its end, too many words. */
const struct nginx_statement *nginx_reader_next(struct nginx_reader *reader);

#endif
