/*
 * Sorting the tokens of a ring: a radix sort by the least significant digit first (Hollerith 1887),
 * three passes of 11 bits over the 33 leading bits only, because tokens are hashes and hardly two
 * agree in more; an insertion sort then puts the few that do in order. O(tokens), stable, so that
 * equal tokens stay in the order of nodes.
 */
#include "placement/ring.h"

#include <string.h>

enum { DIGIT_BITS = 11, DIGIT_COUNT = 1 << DIGIT_BITS, PASS_COUNT = 3 };

static unsigned digit_of(uint64_t token, int pass)
{
    return (unsigned)(token >> (64 - DIGIT_BITS * (PASS_COUNT - pass))) & (DIGIT_COUNT - 1);
}

static void radix_pass(const uint64_t *tokens, const uint32_t *owners, uint64_t *to_tokens,
                       uint32_t *to_owners, uint32_t count, int pass)
{
    uint32_t starts[DIGIT_COUNT] = {0};
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        starts[digit_of(tokens[i], pass)]++;
    for (unsigned digit = 0; digit < DIGIT_COUNT; digit++) {
        uint32_t here = starts[digit];
        starts[digit] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = starts[digit_of(tokens[i], pass)]++;
        to_tokens[at] = tokens[i];
        to_owners[at] = owners[i];
    }
}

static void insertion_pass(uint64_t *tokens, uint32_t *owners, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint64_t token = tokens[i];
        uint32_t owner = owners[i], at = i;
        for (; at > 0 && tokens[at - 1] > token; at--) {
            tokens[at] = tokens[at - 1];
            owners[at] = owners[at - 1];
        }
        tokens[at] = token;
        owners[at] = owner;
    }
}

int ring_sort(uint64_t *tokens, uint32_t *owners, uint64_t *scratch_tokens,
              uint32_t *scratch_owners, uint32_t count)
{
    radix_pass(tokens, owners, scratch_tokens, scratch_owners, count, 0);
    radix_pass(scratch_tokens, scratch_owners, tokens, owners, count, 1);
    radix_pass(tokens, owners, scratch_tokens, scratch_owners, count, 2);
    insertion_pass(scratch_tokens, scratch_owners, count);
    return 1;
}
