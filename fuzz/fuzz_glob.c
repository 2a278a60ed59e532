/*
 * Patterns against texts: the fast matcher and a plain recursive one must agree. The first byte of
 * the input is the pattern's length.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "store/glob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { RECURSIVE_LEN_MAX = 24 }; /* every star may try every rest of the text */

/* One "[...]" by the words of the manual: its length, and whether it has the byte. */
static size_t set_has(const char *set, size_t len, signed char byte, bool *ret_has)
{
    size_t at = 1;
    bool has = false, is_negated = len > 1 && set[1] == '^';
    if (is_negated)
        at = 2;
    for (; at < len && set[at] != ']'; at++) {
        signed char low = (signed char)set[at], high = low;
        if (set[at] == '\\' && len - at >= 2) {
            low = high = (signed char)set[++at];
        } else if (len - at >= 3 && set[at + 1] == '-') {
            at += 2;
            high = (signed char)set[at];
        }
        if (low > high)
            has |= byte >= high && byte <= low;
        else
            has |= byte >= low && byte <= high;
    }
    *ret_has = has != is_negated;
    return at < len ? at + 1 : len;
}

static bool matches(struct slice pattern, struct slice text)
{
    size_t used = 1;
    bool fits = true;
    if (pattern.len == 0)
        return text.len == 0;
    if (pattern.ptr[0] == '*') {
        struct slice rest = {pattern.ptr + 1, pattern.len - 1};
        for (size_t skipped = 0; skipped <= text.len; skipped++)
            if (matches(rest, (struct slice){text.ptr + skipped, text.len - skipped}))
                return true;
        return false;
    }
    if (text.len == 0)
        return false;
    if (pattern.ptr[0] == '[') {
        used = set_has(pattern.ptr, pattern.len, (signed char)text.ptr[0], &fits);
    } else if (pattern.ptr[0] == '\\' && pattern.len >= 2) {
        used = 2;
        fits = pattern.ptr[1] == text.ptr[0];
    } else if (pattern.ptr[0] != '?') {
        fits = pattern.ptr[0] == text.ptr[0];
    }
    return fits && matches((struct slice){pattern.ptr + used, pattern.len - used},
                           (struct slice){text.ptr + 1, text.len - 1});
}

/* In memory of exactly its length, so that a sanitizer sees a step too far. */
static char *copy_of(const uint8_t *data, size_t len)
{
    char *copy = malloc(len ? len : 1);
    if (copy && len)
        memcpy(copy, data, len);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    if (len == 0)
        return 0;
    size_t pattern_len = data[0] < len ? data[0] : len - 1, text_len = len - 1 - pattern_len;
    char *pattern = copy_of(data + 1, pattern_len),
         *text = copy_of(data + 1 + pattern_len, text_len);
    if (pattern && text) {
        struct slice p = {pattern, pattern_len}, t = {text, text_len};
        bool fits = glob_match(p, t);
        /* An empty text is Redis's exception: not even '*' fits it. */
        if (pattern_len <= RECURSIVE_LEN_MAX && text_len <= RECURSIVE_LEN_MAX && text_len > 0)
            CW_ASSERT(fits == matches(p, t));
    }
    free(pattern);
    free(text);
    return 0;
}
