/*
 * Looking up a ring in one cache miss: the hash space is cut into equal arcs of about six tokens,
 * and each arc has one 64-byte line with the positions and owners of its tokens (struct ring_line).
 * Small lines of few bytes a token are what makes it fast: 160,000 tokens take 1.8 MB.
 *
 * Exact, not an approximation: a position is kept in 16 bits, and where those cannot tell (the hash
 * has the very position of a token, or lies behind the twelfth token of its arc) the full tokens
 * decide. That happens to about one hash in 500.
 */
#include "placement/memory.h"
#include "placement/ring.h"

#include <stdlib.h>
#include <string.h>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "owners are read and written as such");

enum { TOKENS_A_LINE = 6 };

struct spot {
    uint32_t line;
    int16_t fraction;
};

static inline struct spot spot_of(const struct ring *ring, uint64_t hash)
{
    unsigned __int128 product = (unsigned __int128)hash * ring->line_count;
    return (struct spot){(uint32_t)(product >> 64), (int16_t)(((uint64_t)product >> 48) ^ 0x8000)};
}

static inline uint32_t line_owner(const struct ring_line *line, unsigned at)
{
    uint32_t owner;
    memcpy(&owner, &line->owners[at * 3], sizeof owner); /* one byte more than it is: still in the
                                                            line */
    return owner & 0xffffff;
}

/* Writes one byte of the next owner's place too; owners are written in ascending order. */
static inline void set_owner(struct ring_line *line, unsigned at, uint32_t owner)
{
    memcpy(&line->owners[at * 3], &owner, sizeof owner);
}

/* The tokens first .. end-1 are those of the line. */
static void fill_line(struct ring *ring, struct ring_line *line, uint32_t first, uint32_t end)
{
    uint32_t count = end - first;
    uint32_t shown = count < RING_LINE_TOKENS ? count : RING_LINE_TOKENS;
    uint32_t behind = ring->owners[end < ring->token_count ? end : 0];
    for (unsigned i = 0; i < shown; i++) {
        line->fractions[i] = spot_of(ring, ring->tokens[first + i]).fraction;
        set_owner(line, i, ring->owners[first + i]);
    }
    for (unsigned i = shown; i < RING_LINE_TOKENS; i++) {
        line->fractions[i] = INT16_MAX;
        set_owner(line, i, behind);
    }
    set_owner(line, RING_LINE_TOKENS, count > RING_LINE_TOKENS ? RING_OWNER_SLOW : behind);
}

int ring_index_build(struct ring *ring)
{
    uint32_t first = 0;
    ring->line_count = ring->token_count / TOKENS_A_LINE + 1;
    uint32_t starts_lines = ring->line_count / (sizeof *ring->lines / sizeof *ring->starts) + 1;
    ring->lines = memory_alloc_lines((size_t)ring->line_count + starts_lines, sizeof *ring->lines);
    if (!ring->lines)
        return CW_ENOMEM;
    ring->starts = (uint32_t *)(void *)(ring->lines + ring->line_count);
    for (uint32_t i = 0; i < ring->line_count; i++) {
        uint32_t end = first;
        while (end < ring->token_count && spot_of(ring, ring->tokens[end]).line == i)
            end++;
        ring->starts[i] = first;
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
    uint32_t at = ring->starts[line];
    while (at < ring->token_count && ring->tokens[at] < hash)
        at++;
    return ring->owners[at < ring->token_count ? at : 0];
}

/* How many fractions are below. */
#if defined(__SSE2__)
static inline unsigned count_below(const struct ring_line *line, int16_t fraction)
{
    __m128i wanted = _mm_set1_epi16(fraction);
    /* The last four of these sixteen are owners; the mask drops them. */
    __m128i low = _mm_load_si128((const __m128i *)(const void *)line);
    __m128i high = _mm_load_si128((const __m128i *)(const void *)line + 1);
    __m128i below = _mm_packs_epi16(_mm_cmpgt_epi16(wanted, low), _mm_cmpgt_epi16(wanted, high));
    unsigned mask = (unsigned)_mm_movemask_epi8(below);
    /* Fractions ascend, so the ones are together at the end. */
    return (unsigned)__builtin_ctz(~mask | 1u << RING_LINE_TOKENS);
}
#else
static inline unsigned count_below(const struct ring_line *line, int16_t fraction)
{
    unsigned below = 0;
    for (unsigned i = 0; i < RING_LINE_TOKENS; i++)
        below += line->fractions[i] < fraction;
    return below;
}
#endif

/* Whether fractions[at] is the wanted one. Behind the last stand owners: a false alarm at worst. */
static inline int is_equal(const struct ring_line *line, unsigned at, int16_t fraction)
{
    int16_t found;
    memcpy(&found, (const char *)line + at * sizeof found, sizeof found);
    return found == fraction;
}

/* The owner of the hash when `at` fractions of its line are below. */
static inline uint32_t owner_at(const struct ring *ring, uint64_t hash, struct spot spot,
                                unsigned at)
{
    const struct ring_line *line = &ring->lines[spot.line];
    uint32_t owner = line_owner(line, at);
    if (__builtin_expect(is_equal(line, at, spot.fraction) || owner == RING_OWNER_SLOW, 0))
        return locate_in_line(ring, hash, spot.line);
    return owner;
}

static inline uint32_t locate_spot(const struct ring *ring, uint64_t hash, struct spot spot)
{
    return owner_at(ring, hash, spot, count_below(&ring->lines[spot.line], spot.fraction));
}

uint32_t ring_locate(const struct ring *ring, uint64_t hash)
{
    return locate_spot(ring, hash, spot_of(ring, hash));
}

uint32_t ring_map_locate(const struct cw_map *map, uint64_t hash)
{
    return ring_locate(map->state, hash);
}

#if VECTORS_X86
static inline TARGET_AVX512 uint32_t locate_avx512(const struct ring *ring, uint64_t hash)
{
    struct spot spot = spot_of(ring, hash);
    const __m256i *line = (const __m256i *)(const void *)&ring->lines[spot.line];
    unsigned mask = _mm256_cmpgt_epi16_mask(_mm256_set1_epi16(spot.fraction), *line);
    return owner_at(ring, hash, spot, (unsigned)__builtin_ctz(~mask | 1u << RING_LINE_TOKENS));
}

TARGET_AVX512 uint32_t ring_map_locate_avx512(const struct cw_map *map, uint64_t hash)
{
    return locate_avx512(map->state, hash);
}
#else
uint32_t ring_map_locate_avx512(const struct cw_map *map, uint64_t hash)
{
    return ring_map_locate(map, hash); /* never chosen */
}
#endif

/*
 * Each lookup asks for the line of the one AHEAD places on, so that so many are on their way from
 * memory at once. The arc is computed twice: cheaper than keeping it.
 */
enum { AHEAD = 48 };

static inline void prefetch_line(const struct ring *ring, uint64_t hash)
{
    __builtin_prefetch(&ring->lines[spot_of(ring, hash).line]);
}

/* The form of a batch around a form of one lookup. */
#define LOCATE_BATCH(locate_one)                                                                   \
    size_t ahead = count < AHEAD ? count : AHEAD;                                                  \
    for (size_t i = 0; i < ahead; i++)                                                             \
        prefetch_line(ring, hashes[i]);                                                            \
    for (size_t i = 0; i + ahead < count; i++) {                                                   \
        prefetch_line(ring, hashes[i + ahead]);                                                    \
        ret_nodes[i] = locate_one(ring, hashes[i]);                                                \
    }                                                                                              \
    for (size_t i = count - ahead; i < count; i++)                                                 \
        ret_nodes[i] = locate_one(ring, hashes[i]);

#if VECTORS_X86
static TARGET_AVX512 void locate_batch_avx512(const struct ring *given, const uint64_t *hashes,
                                              size_t count, uint32_t *ret_nodes)
{
    const struct ring own = *given, *ring = &own; /* so that no store may change it */
    LOCATE_BATCH(locate_avx512)
}
#endif

static void locate_batch_plain(const struct ring *given, const uint64_t *hashes, size_t count,
                               uint32_t *ret_nodes)
{
    const struct ring own = *given, *ring = &own;
    LOCATE_BATCH(ring_locate)
}

void ring_locate_batch(const struct ring *ring, const uint64_t *hashes, size_t count,
                       uint32_t *ret_nodes)
{
#if VECTORS_X86
    if (ring->vectors >= VECTORS_AVX512) {
        locate_batch_avx512(ring, hashes, count, ret_nodes);
        return;
    }
#endif
    locate_batch_plain(ring, hashes, count, ret_nodes);
}
