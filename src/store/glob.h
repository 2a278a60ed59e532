/*
 * The patterns of KEYS and SCAN MATCH, as Redis reads them: '*' any run, '?' any byte, '[a-z]' and
 * '[^a-z]' one of a set, '\' takes the next byte as it is. Oddities of Redis are kept, because
 * clients see them: a set that is not closed ends with the pattern, a range may be given backwards,
 * and bytes in a range compare as signed. A pattern costs at most pattern_len * text_len steps:
 * only the last '*' is ever tried again, because what an earlier one could gain by taking more, the
 * later one gains too.
 */
#ifndef STORE_GLOB_H
#define STORE_GLOB_H

#include <stdbool.h>

#include "wire/resp.h"

bool glob_match(struct slice pattern, struct slice text);

#endif
