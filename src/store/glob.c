#include "store/glob.h"

/* One element of a pattern: what it says of a byte, and how long it is. */
struct element {
    size_t len;
    bool fits;
};

/* A range inside a set, "a-z" or "z-a". */
static bool range_fits(char low, char high, char byte)
{
    signed char a = (signed char)low, b = (signed char)high, c = (signed char)byte;
    return a <= b ? a <= c && c <= b : b <= c && c <= a;
}

/* "[...]" at pattern[0]. */
static struct element read_set(struct slice pattern, char byte)
{
    size_t at = 1;
    bool fits = false;
    bool is_negated = at < pattern.len && pattern.ptr[at] == '^';
    at += is_negated;
    while (at < pattern.len && pattern.ptr[at] != ']') {
        size_t left = pattern.len - at;
        if (left >= 2 && pattern.ptr[at] == '\\') {
            fits |= pattern.ptr[at + 1] == byte;
            at += 2;
        } else if (left >= 3 && pattern.ptr[at + 1] == '-') {
            fits |= range_fits(pattern.ptr[at], pattern.ptr[at + 2], byte);
            at += 3;
        } else {
            fits |= pattern.ptr[at] == byte;
            at++;
        }
    }
    at += at < pattern.len; /* the ']', if there is one */
    return (struct element){at, fits != is_negated};
}

/* The element at pattern[0], which is not a '*'. */
static struct element read_element(struct slice pattern, char byte)
{
    switch (pattern.ptr[0]) {
    case '?': return (struct element){1, true};
    case '[': return read_set(pattern, byte);
    case '\\':
        if (pattern.len >= 2)
            return (struct element){2, pattern.ptr[1] == byte};
        return (struct element){1, byte == '\\'};
    default: return (struct element){1, pattern.ptr[0] == byte};
    }
}

static struct slice after(struct slice text, size_t count)
{
    return (struct slice){text.ptr + count, text.len - count};
}

bool glob_match(struct slice pattern, struct slice text)
{
    struct slice retry_pattern = {NULL, 0}, retry_text = {NULL, 0};
    bool has_star = false;
    if (text.len == 0 && pattern.len)
        return false; /* in Redis not even '*' fits an empty text; KEYS and SCAN see to "*" */
    while (text.len) {
        struct element element = {0, false};
        if (pattern.len && pattern.ptr[0] == '*') {
            has_star = true;
            retry_pattern = pattern = after(pattern, 1);
            retry_text = text;
            continue;
        }
        if (pattern.len)
            element = read_element(pattern, text.ptr[0]);
        if (element.fits) {
            pattern = after(pattern, element.len);
            text = after(text, 1);
        } else if (has_star) {
            pattern = retry_pattern;
            text = retry_text = after(retry_text, 1);
        } else {
            return false;
        }
    }
    while (pattern.len && pattern.ptr[0] == '*')
        pattern = after(pattern, 1);
    return pattern.len == 0;
}
