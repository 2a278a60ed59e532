#include "base/suggest.h"

#include <string.h>
#include <strings.h>

static unsigned min_of(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Upper and lower case are the same here: "Weight" is a slip for "weight", not three of them. */
static int same_letter(char a, char b)
{
    return strncasecmp(&a, &b, 1) == 0;
}

/* One row of the distance table: row[j] is how far a[0..i] is from b[0..j). */
static void next_row(const char *a, size_t i, const char *b, size_t b_len, const unsigned *before,
                     const unsigned *last, unsigned *row)
{
    row[0] = (unsigned)i + 1;
    for (size_t j = 0; j < b_len; j++) {
        unsigned change = last[j] + !same_letter(a[i], b[j]);
        row[j + 1] = min_of(change, 1 + min_of(last[j + 1], row[j]));
        if (i > 0 && j > 0 && same_letter(a[i], b[j - 1]) && same_letter(a[i - 1], b[j]))
            row[j + 1] = min_of(row[j + 1], before[j - 1] + 1);
    }
}

unsigned suggest_distance(const char *a, const char *b, unsigned bound)
{
    unsigned rows[3][SUGGEST_LEN_MAX + 1];
    size_t a_len = strnlen(a, SUGGEST_LEN_MAX + 1), b_len = strnlen(b, SUGGEST_LEN_MAX + 1);
    if (a_len > SUGGEST_LEN_MAX || b_len > SUGGEST_LEN_MAX)
        return bound + 1;
    for (size_t j = 0; j <= b_len; j++)
        rows[2][j] = (unsigned)j;
    for (size_t i = 0; i < a_len; i++)
        next_row(a, i, b, b_len, rows[(i + 1) % 3], rows[(i + 2) % 3], rows[i % 3]);
    unsigned distance = rows[(a_len + 2) % 3][b_len];
    return distance > bound ? bound + 1 : distance;
}

const char *suggest_nearest(const char *word, const char *const *names, size_t name_count)
{
    size_t len = strnlen(word, SUGGEST_LEN_MAX + 1);
    unsigned bound = len < 3 ? 1 : (unsigned)(len + 2) / 3;
    const char *nearest = NULL;
    for (size_t i = 0; i < name_count; i++) {
        unsigned distance = suggest_distance(word, names[i], bound);
        /* A name of one letter is "near" to every other one; what is wholly different is not. */
        if (distance > bound || distance >= strlen(names[i]))
            continue;
        nearest = names[i];
        if (distance == 0)
            break;
        bound = distance - 1;
    }
    return nearest;
}
