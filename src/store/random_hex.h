/*
 * Names that nothing else has: random digits from the system, or from a seed in the simulation,
 * where one seed must give one run.
 */
#ifndef STORE_RANDOM_HEX_H
#define STORE_RANDOM_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Writes `len` hexadecimal digits and a NUL. seed 0: from the system, which has them at once except
 * in the first moments of a machine. */
void random_hex(uint64_t seed, size_t len, char *ret_text);

#endif
