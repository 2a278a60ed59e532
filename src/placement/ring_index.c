/*
 * Looking up a ring in one cache miss: the hash space is cut into equal arcs of about four tokens,
 * and each arc has one 64-byte line with the positions and owners of its tokens (struct ring_line).
 *
 * Exact, not an approximation: a position is kept in 32 bits, and where those cannot tell (the hash
 * has the very position of a token, or lies behind the eighth token of its arc) the full tokens
 * decide. That happens to one hash in some hundred, or never.
 */
#include "placement/memory.h"
#include "placement/ring.h"

#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

enum { TOKENS_A_LINE = 4, TOKENS_A_LINE_DENSE = 6 };
/* Above this many tokens memory counts for more than the last nanosecond. */
#define DENSE_TOKEN_COUNT (1u << 24)

struct spot {
    uint32_t line, fraction;
};

static inline struct spot spot_of(const struct ring *ring, uint64_t hash)
{
    unsigned __int128 product = (unsigned __int128)hash * ring->line_count;
    return (struct spot){(uint32_t)(product >> 64), (uint32_t)((uint64_t)product >> 32)};
}

static inline uint32_t line_owner(const struct ring_line *line, unsigned at)
{
    uint32_t owner;
    memcpy(&owner, &line->owners[at * 3], sizeof owner); /* one byte more than it is: still in the
                                                            line */
    return owner & 0xffffff;
}

static void set_owner(struct ring_line *line, unsigned at, uint32_t owner)
{
    line->owners[at * 3] = (uint8_t)owner;
    line->owners[at * 3 + 1] = (uint8_t)(owner >> 8);
    line->owners[at * 3 + 2] = (uint8_t)(owner >> 16);
}

/* The tokens first .. end-1 are those of the line. */
static void fill_line(struct ring *ring, struct ring_line *line, uint32_t first, uint32_t end)
{
    uint32_t count = end - first;
    uint32_t shown = count < RING_LINE_TOKENS ? count : RING_LINE_TOKENS;
    uint32_t behind = ring->owners[end < ring->token_count ? end : 0];
    line->base = first;
    for (unsigned i = 0; i < RING_LINE_TOKENS; i++) {
        int is_token = i < shown;
        line->fractions[i] = is_token ? spot_of(ring, ring->tokens[first + i]).fraction
                                      : UINT32_MAX;
        set_owner(line, i, is_token ? ring->owners[first + i] : behind);
    }
    set_owner(line, RING_LINE_TOKENS, count > RING_LINE_TOKENS ? RING_OWNER_SLOW : behind);
}

int ring_index_build(struct ring *ring)
{
    int dense = ring->token_count > DENSE_TOKEN_COUNT;
    uint32_t first = 0;
    ring->line_count = ring->token_count / (dense ? TOKENS_A_LINE_DENSE : TOKENS_A_LINE) + 1;
    /* malloc gives 16-byte alignment; a line must not straddle two cache lines. */
    ring->lines = memory_alloc_lines(ring->line_count, sizeof *ring->lines);
    if (!ring->lines)
        return CW_ENOMEM;
    for (uint32_t i = 0; i < ring->line_count; i++) {
        uint32_t end = first;
        while (end < ring->token_count && spot_of(ring, ring->tokens[end]).line == i)
            end++;
        fill_line(ring, &ring->lines[i], first, end);
        first = end;
    }
    return CW_OK;
}

uint32_t ring_search(const struct ring *ring, uint64_t hash)
{
    uint32_t low = 0, high = ring->token_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (ring->tokens[middle] < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t ring_locate_plain(const struct ring *ring, uint64_t hash)
{
    uint32_t at = ring_search(ring, hash);
    return ring->owners[at < ring->token_count ? at : 0];
}

/* The full tokens of a line decide; there are a handful. */
static __attribute__((noinline)) uint32_t locate_in_line(const struct ring *ring, uint64_t hash,
                                                         uint32_t line)
{
    uint32_t at = ring->lines[line].base;
    while (at < ring->token_count && ring->tokens[at] < hash)
        at++;
    return ring->owners[at < ring->token_count ? at : 0];
}

/* How many fractions are below; *ret_equal when one is equal. */
#if defined(__SSE2__)
static inline unsigned count_below(const struct ring_line *line, uint32_t fraction, int *ret_equal)
{
    /* SSE2 compares signed numbers: both sides are moved by 2^31. */
    const __m128i bias = _mm_set1_epi32(INT32_MIN);
    const __m128i *fractions = (const __m128i *)(const void *)line->fractions;
    __m128i wanted = _mm_set1_epi32((int)fraction);
    __m128i low = _mm_load_si128(&fractions[0]), high = _mm_load_si128(&fractions[1]);
    __m128i equal = _mm_or_si128(_mm_cmpeq_epi32(low, wanted), _mm_cmpeq_epi32(high, wanted));
    wanted = _mm_xor_si128(wanted, bias);
    __m128i below = _mm_packs_epi32(_mm_cmpgt_epi32(wanted, _mm_xor_si128(low, bias)),
                                    _mm_cmpgt_epi32(wanted, _mm_xor_si128(high, bias)));
    unsigned mask = (unsigned)_mm_movemask_epi8(_mm_packs_epi16(below, below)) & 0xff;
    *ret_equal = _mm_movemask_epi8(equal);
    return (unsigned)__builtin_ctz(~mask); /* fractions ascend: the ones are at the end */
}
#else
static inline unsigned count_below(const struct ring_line *line, uint32_t fraction, int *ret_equal)
{
    unsigned below = 0;
    int equal = 0;
    for (unsigned i = 0; i < RING_LINE_TOKENS; i++) {
        below += line->fractions[i] < fraction;
        equal |= line->fractions[i] == fraction;
    }
    *ret_equal = equal;
    return below;
}
#endif

static inline uint32_t locate_spot(const struct ring *ring, uint64_t hash, struct spot spot)
{
    const struct ring_line *line = &ring->lines[spot.line];
    int equal;
    uint32_t owner = line_owner(line, count_below(line, spot.fraction, &equal));
    if (__builtin_expect(equal || owner == RING_OWNER_SLOW, 0))
        return locate_in_line(ring, hash, spot.line);
    return owner;
}

uint32_t ring_locate(const struct ring *ring, uint64_t hash)
{
    return locate_spot(ring, hash, spot_of(ring, hash));
}

enum { BATCH = 16 };

/* Asks for all lines of a block before it looks at the first. */
void ring_locate_batch(const struct ring *ring, const uint64_t *hashes, size_t count,
                       uint32_t *ret_nodes)
{
    struct spot spots[BATCH];
    size_t at = 0;
    for (; at + BATCH <= count; at += BATCH) {
        for (unsigned i = 0; i < BATCH; i++) {
            spots[i] = spot_of(ring, hashes[at + i]);
            __builtin_prefetch(&ring->lines[spots[i].line]);
        }
        for (unsigned i = 0; i < BATCH; i++)
            ret_nodes[at + i] = locate_spot(ring, hashes[at + i], spots[i]);
    }
    for (; at < count; at++)
        ret_nodes[at] = ring_locate(ring, hashes[at]);
}
