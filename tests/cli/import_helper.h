/*
 * Files of other systems, imported in memory: what is said about them, and what comes out.
 */
#ifndef TESTS_CLI_IMPORT_HELPER_H
#define TESTS_CLI_IMPORT_HELPER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import.h"

struct imported {
    struct import import;
    struct buffer said, yaml; /* of remarks, the lines "f:line: text"; of the result, all of it */
};

static struct imported imported;

/* Reads a text; what came of it stands in `imported` until done(). */
static void import_from(const struct import_format *format, const char *section, const char *text,
                        size_t len)
{
    struct import *import = &imported.import;
    import_init(import, text, len);
    import->section = section;
    format->read(import);
    import_check(import);
    if (import->counts[IMPORT_WRONG] == 0) {
        assert_true(import_write(import, format, "f", &imported.yaml));
        if (!import_verify(import, &imported.yaml))
            buffer_clear(&imported.yaml);
    }
    import_print_remarks(import, "f", &imported.said);
    assert_true(buffer_append(&imported.said, "", 1));
    assert_true(buffer_append(&imported.yaml, "", 1));
}

static inline void done(void)
{
    import_fini(&imported.import);
    buffer_release(&imported.said);
    buffer_release(&imported.yaml);
}

/* The lines of the result behind "pools:\n". */
static inline const char *pools_of_result(void)
{
    const char *pools = strstr(buffer_bytes(&imported.yaml), "pools:\n");
    return pools ? pools + strlen("pools:\n") : "";
}

/* What comes of a text, without a word. */
static inline void becomes(const struct import_format *format, const char *section,
                           const char *text, const char *pools)
{
    import_from(format, section, text, strlen(text));
    assert_string_equal(buffer_bytes(&imported.said), "");
    assert_string_equal(pools_of_result(), pools);
    done();
}

/* A remark of that weight is made, and no graver one. */
static inline void says(const struct import_format *format, const char *section,
                        enum import_weight weight, const char *text, const char *remark)
{
    import_from(format, section, text, strlen(text));
    if (!strstr(buffer_bytes(&imported.said), remark))
        assert_string_equal(buffer_bytes(&imported.said), remark);
    for (unsigned i = 0; i <= IMPORT_WRONG; i++)
        assert_true(i < weight || (imported.import.counts[i] > 0) == (i == weight));
    assert_true((imported.yaml.len > 1) == (weight != IMPORT_WRONG));
    done();
}

#endif
