/*
 * Patterns against texts: the fast matcher and a plain one that tries everything must agree. The
 * first byte of the input is the pattern's length.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "store/glob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { PLAIN_LEN_MAX = 64 };

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

/* Whether one element at pattern[0], no star, fits a byte, and its length. */
static bool element_fits(const char *pattern, size_t len, char byte, size_t *ret_len)
{
    bool fits = pattern[0] == '?';
    *ret_len = 1;
    if (pattern[0] == '[') {
        *ret_len = set_has(pattern, len, (signed char)byte, &fits);
    } else if (pattern[0] == '\\' && len >= 2) {
        *ret_len = 2;
        fits = pattern[1] == byte;
    } else if (!fits) {
        fits = pattern[0] == byte;
    }
    return fits;
}

/* fits[p][t]: the pattern from p on fits the text from t on. Filled from the ends. */
static bool matches(struct slice pattern, struct slice text)
{
    static bool fits[PLAIN_LEN_MAX + 3][PLAIN_LEN_MAX + 2];
    size_t used;
    memset(fits, 0, sizeof fits);
    fits[pattern.len][text.len] = true;
    for (size_t p = pattern.len; p-- > 0;) {
        for (size_t t = text.len + 1; t-- > 0;) {
            if (pattern.ptr[p] == '*')
                fits[p][t] = fits[p + 1][t] || (t < text.len && fits[p][t + 1]);
            else if (t < text.len)
                fits[p][t] = element_fits(pattern.ptr + p, pattern.len - p, text.ptr[t], &used) &&
                             fits[p + used][t + 1];
        }
    }
    return fits[0][0];
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
        if (pattern_len <= PLAIN_LEN_MAX && text_len <= PLAIN_LEN_MAX && text_len > 0)
            CW_ASSERT(fits == matches(p, t));
    }
    free(pattern);
    free(text);
    return 0;
}
