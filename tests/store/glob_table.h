/*
 * Patterns, texts, and whether they fit: what glob_match() and a real Redis both must say.
 */
#ifndef TESTS_STORE_GLOB_TABLE_H
#define TESTS_STORE_GLOB_TABLE_H

#include <stdbool.h>

static const struct {
    const char *pattern, *text;
    bool fits;
} glob_table[] = {
    {"", "", true},
    {"", "a", false},
    {"*", "", false}, /* KEYS and SCAN know "*" as "all" */
    {"*", "a", true},
    {"**", "a", true},
    {"a", "a", true},
    {"a", "A", false},
    {"?", "a", true},
    {"?", "", false},
    {"??", "a", false},
    {"a*", "a", true},
    {"a*", "ab", true},
    {"a***", "a", true},
    {"*a", "ba", true},
    {"*a", "ab", false},
    {"a*b*c", "axbyc", true},
    {"a*b*c", "acb", false},
    {"*ab*", "xxaby", true},
    {"*?", "a", true},
    {"?*?", "a", false},
    {"h[ae]llo", "hello", true},
    {"h[ae]llo", "hillo", false},
    {"h[^e]llo", "hallo", true},
    {"h[^e]llo", "hello", false},
    {"h[a-c]llo", "hbllo", true},
    {"h[c-a]llo", "hbllo", true}, /* backwards */
    {"h[a-c]llo", "hdllo", false},
    {"[a-]", "-", false}, /* from 'a' to ']', and not closed */
    {"[a-]", "a", true},
    {"[a-]", "_", true},
    {"[\\]]", "]", true},
    {"[\\a-c]", "a", true},
    {"[\\a-c]", "b", false}, /* an escaped byte begins no range */
    {"[]", "a", false},
    {"[^]", "a", true},
    {"[", "[", false},
    {"[^", "a", true},
    {"[abc", "b", true}, /* a set that is not closed ends with the pattern */
    {"[abc", "d", false},
    {"a\\*", "a*", true},
    {"a\\*", "ab", false},
    {"\\", "\\", true},
    {"a\\", "a\\", true},
    {"\\a", "a", true},
    {"[\\", "\\", true},
    {"a[*]", "a*", true},
    {"*[0-9]", "key7", true},
    {"*[0-9]", "key", false},
};

#endif
