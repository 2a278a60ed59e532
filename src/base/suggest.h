/*
 * "Did you mean …?": the name out of a list that is nearest to a word which is none of them.
 * Nearness is the number of letters to add, drop, change or swap (optimal string alignment
 * distance), and a name counts only while that is at most a third of the word's length, so that
 * nonsense suggests nothing. No allocation.
 */
#ifndef BASE_SUGGEST_H
#define BASE_SUGGEST_H

#include <stddef.h>

/* Words longer than this are never near to anything. */
enum { SUGGEST_LEN_MAX = 63 };

/* The distance of two words, or bound + 1 when it is more than bound or a word is too long. */
unsigned suggest_distance(const char *a, const char *b, unsigned bound);

/* The nearest of the names, the first of equals, or NULL when none is near. */
const char *suggest_nearest(const char *word, const char *const *names, size_t name_count);

#endif
