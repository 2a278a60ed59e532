/*
 * What all fuzz targets of `clockwise import` do: any bytes as a file of one system. What must
 * hold: something is said to be wrong, or there is a configuration; and whoever recognises a file
 * looks at nothing behind its end.
 */
#ifndef FUZZ_IMPORT_TARGET_H
#define FUZZ_IMPORT_TARGET_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "cli/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* The work of making a ring is what the file asks for, and may be seconds: not what is tested here.
 */
static inline bool import_target_is_cheap(const struct import *import)
{
    double points = 0;
    for (size_t i = 0; i < import->pool_count; i++) {
        const struct import_pool *pool = &import->pools[i];
        double per = pool->options.points ? pool->options.points : 160;
        for (size_t j = 0; j < pool->node_count; j++)
            points += per * (pool->nodes[j].place.weight + 1);
    }
    return points < 100000;
}

static inline void import_target_write(struct import *import, const struct import_format *format)
{
    struct buffer text = BUFFER_INIT;
    import_check(import);
    if (import->counts[IMPORT_WRONG] == 0) {
        CW_ASSERT(import->pool_count > 0);
        CW_ASSERT(import_write(import, format, "f", &text));
        CW_ASSERT(import_verify(import, &text) == (import->counts[IMPORT_WRONG] == 0));
    }
    buffer_release(&text);
}

static inline int import_target(const struct import_format *format, const uint8_t *data, size_t len)
{
    struct import *import = malloc(sizeof *import);
    char *text = malloc(len + 1); /* no byte more, so that reading on is found */
    struct buffer said = BUFFER_INIT;
    if (!import || !text || memchr(data, 0, len)) {
        free(import);
        free(text);
        return 0;
    }
    memcpy(text, data, len);
    text[len] = 0;
    for (size_t i = 0; import_formats[i]; i++)
        import_formats[i]->looks_like(text);
    import_init(import, text, len);
    format->read(import);
    if (import_target_is_cheap(import))
        import_target_write(import, format);
    import_print_remarks(import, "f", &said);
    CW_ASSERT((said.len > 0) == (import->remark_count > 0));
    buffer_release(&said);
    import_fini(import);
    free(import);
    free(text);
    return 0;
}

#endif
