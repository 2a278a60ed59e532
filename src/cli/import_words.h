/*
 * Lines and words of configurations that are made of them: HAProxy's, and the tables that clusters
 * print.
 */
#ifndef CLI_IMPORT_WORDS_H
#define CLI_IMPORT_WORDS_H

#include "cli/import.h"

enum { IMPORT_WORDS_MAX = 128 };

struct import_line {
    unsigned number; /* from 1 */
    size_t count;
    const char *words[IMPORT_WORDS_MAX + 1]; /* behind the last: NULL */
    bool is_cut;                             /* it had more words than fit */
    bool has_variable; /* a $NAME between double quotes, which is not replaced here */
};

struct import_lines {
    struct import *import;
    const char *at;
    struct import_line line;
};

void import_lines_init(struct import_lines *lines, struct import *import);
/* The next line that has a word, cut as HAProxy cuts it: '' and "" keep blanks together, \ takes
 * the next character as it is, # begins a comment. NULL behind the last, or when memory is out. */
const struct import_line *import_lines_next(struct import_lines *lines);

#endif
