/*
 * Four forms of one loop over nodes: plain, AVX2 with 8 keys a vector, AVX-512 with 16, NEON
 * with 4. Two and, of the last two, four vectors go side by side, to hide the latency of their
 * multiplications. A later node must draw more than the best before it, so ties go to the earlier
 * one in all forms.
 */
#include "placement/rank_batch.h"

#if VECTORS_X86
#include <immintrin.h>

/* ---- AVX2 ---- */

/* The upper and lower halves of 8 keys. */
struct halves8 {
    __m256i high, low;
};

static inline TARGET_AVX2 struct halves8 load8(const uint64_t *keys)
{
    __m256 one = _mm256_loadu_ps((const float *)(const void *)keys);
    __m256 two = _mm256_loadu_ps((const float *)(const void *)(keys + 4));
    /* Shuffles stay within 128 bits, so pairs of keys are swapped back into their order. */
    __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(one, two, 0x88));
    __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(one, two, 0xdd));
    return (struct halves8){_mm256_permute4x64_epi64(high, 0xd8),
                            _mm256_permute4x64_epi64(low, 0xd8)};
}

static inline TARGET_AVX2 __m256i draw8(struct halves8 keys, __m256i a, __m256i b)
{
    __m256i x = _mm256_mullo_epi32(_mm256_xor_si256(keys.high, a), _mm256_set1_epi32(0x7feb352d));
    x = _mm256_xor_si256(x, _mm256_srli_epi32(x, 15));
    x = _mm256_add_epi32(x, _mm256_xor_si256(keys.low, b));
    x = _mm256_mullo_epi32(x, _mm256_set1_epi32((int)0x846ca68b));
    return _mm256_xor_si256(x, _mm256_srli_epi32(x, 16));
}

/* Keeps the greatest draw and its node; an equal one does not count. */
#define KEEP_BEST8(draw, best, index, node)                                                        \
    do {                                                                                           \
        __m256i greatest = _mm256_max_epu32(draw, best);                                           \
        __m256i stays = _mm256_cmpeq_epi32(greatest, best);                                        \
        index = _mm256_blendv_epi8(node, index, stays);                                            \
        best = greatest;                                                                           \
    } while (0)

static TARGET_AVX2 void best16_avx2(const struct rank_node *nodes, uint32_t count,
                                    const uint64_t *keys, uint32_t *ret_nodes)
{
    struct halves8 keys0 = load8(keys), keys1 = load8(keys + 8);
    __m256i best0 = _mm256_setzero_si256(), best1 = best0, index0 = best0, index1 = best0;
    for (uint32_t i = 0; i < count; i++) {
        __m256i a = _mm256_set1_epi32((int)nodes[i].a), b = _mm256_set1_epi32((int)nodes[i].b);
        __m256i node = _mm256_set1_epi32((int)i);
        __m256i draw0 = draw8(keys0, a, b), draw1 = draw8(keys1, a, b);
        KEEP_BEST8(draw0, best0, index0, node);
        KEEP_BEST8(draw1, best1, index1, node);
    }
    _mm256_storeu_si256((__m256i *)(void *)ret_nodes, index0);
    _mm256_storeu_si256((__m256i *)(void *)(ret_nodes + 8), index1);
}

static void rank_batch_avx2(const struct rank_node *nodes, uint32_t count, const uint64_t *keys,
                            size_t block_count, uint32_t *ret_nodes)
{
    for (size_t i = 0; i < block_count; i++)
        best16_avx2(nodes, count, keys + i * 16, ret_nodes + i * 16);
}

/* ---- AVX-512 ---- */

struct halves16 {
    __m512i high, low;
};

static inline TARGET_AVX512 struct halves16 load16(const uint64_t *keys)
{
    const __m512i low = _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(1));
    __m512i one = _mm512_loadu_si512(keys), two = _mm512_loadu_si512(keys + 8);
    return (struct halves16){_mm512_permutex2var_epi32(one, high, two),
                             _mm512_permutex2var_epi32(one, low, two)};
}

static inline TARGET_AVX512 __m512i draw16(struct halves16 keys, __m512i a, __m512i b)
{
    __m512i x = _mm512_mullo_epi32(_mm512_xor_si512(keys.high, a), _mm512_set1_epi32(0x7feb352d));
    x = _mm512_xor_si512(x, _mm512_srli_epi32(x, 15));
    x = _mm512_add_epi32(x, _mm512_xor_si512(keys.low, b));
    x = _mm512_mullo_epi32(x, _mm512_set1_epi32((int)0x846ca68b));
    return _mm512_xor_si512(x, _mm512_srli_epi32(x, 16));
}

#define KEEP_BEST16(draw, best, index, node)                                                       \
    do {                                                                                           \
        __mmask16 greater = _mm512_cmpgt_epu32_mask(draw, best);                                   \
        best = _mm512_max_epu32(best, draw);                                                       \
        index = _mm512_mask_mov_epi32(index, greater, node);                                       \
    } while (0)

static TARGET_AVX512 void best64_avx512(const struct rank_node *nodes, uint32_t count,
                                        const uint64_t *keys, uint32_t *ret_nodes)
{
    struct halves16 keys0 = load16(keys), keys1 = load16(keys + 16);
    struct halves16 keys2 = load16(keys + 32), keys3 = load16(keys + 48);
    __m512i best0 = _mm512_setzero_si512(), best1 = best0, best2 = best0, best3 = best0;
    __m512i index0 = best0, index1 = best0, index2 = best0, index3 = best0;
    for (uint32_t i = 0; i < count; i++) {
        __m512i a = _mm512_set1_epi32((int)nodes[i].a), b = _mm512_set1_epi32((int)nodes[i].b);
        __m512i node = _mm512_set1_epi32((int)i);
        __m512i draw0 = draw16(keys0, a, b), draw1 = draw16(keys1, a, b);
        __m512i draw2 = draw16(keys2, a, b), draw3 = draw16(keys3, a, b);
        KEEP_BEST16(draw0, best0, index0, node);
        KEEP_BEST16(draw1, best1, index1, node);
        KEEP_BEST16(draw2, best2, index2, node);
        KEEP_BEST16(draw3, best3, index3, node);
    }
    _mm512_storeu_si512(ret_nodes, index0);
    _mm512_storeu_si512(ret_nodes + 16, index1);
    _mm512_storeu_si512(ret_nodes + 32, index2);
    _mm512_storeu_si512(ret_nodes + 48, index3);
}

static void rank_batch_avx512(const struct rank_node *nodes, uint32_t count, const uint64_t *keys,
                              size_t block_count, uint32_t *ret_nodes)
{
    for (size_t i = 0; i < block_count; i++)
        best64_avx512(nodes, count, keys + i * 64, ret_nodes + i * 64);
}
#endif

#if VECTORS_ARM
#include <arm_neon.h>

/* The upper and lower halves of 4 keys, and what they have drawn so far. */
struct keys4 {
    uint32x4_t high, low, best, index;
};

static inline struct keys4 load4(const uint64_t *keys)
{
    uint64x2_t one = vld1q_u64(keys), two = vld1q_u64(keys + 2);
    return (struct keys4){vcombine_u32(vshrn_n_u64(one, 32), vshrn_n_u64(two, 32)),
                          vcombine_u32(vmovn_u64(one), vmovn_u64(two)), vdupq_n_u32(0),
                          vdupq_n_u32(0)};
}

static inline uint32x4_t draw4(const struct keys4 *keys, uint32x4_t a, uint32x4_t b)
{
    uint32x4_t x = vmulq_u32(veorq_u32(keys->high, a), vdupq_n_u32(0x7feb352d));
    x = veorq_u32(x, vshrq_n_u32(x, 15));
    x = vaddq_u32(x, veorq_u32(keys->low, b));
    x = vmulq_u32(x, vdupq_n_u32(0x846ca68b));
    return veorq_u32(x, vshrq_n_u32(x, 16));
}

static inline void keep_best4(struct keys4 *keys, uint32x4_t draw, uint32x4_t node)
{
    keys->index = vbslq_u32(vcgtq_u32(draw, keys->best), node, keys->index);
    keys->best = vmaxq_u32(draw, keys->best);
}

static void best16_neon(const struct rank_node *nodes, uint32_t count, const uint64_t *keys,
                        uint32_t *ret_nodes)
{
    struct keys4 keys0 = load4(keys), keys1 = load4(keys + 4);
    struct keys4 keys2 = load4(keys + 8), keys3 = load4(keys + 12);
    for (uint32_t i = 0; i < count; i++) {
        uint32x4_t a = vdupq_n_u32(nodes[i].a), b = vdupq_n_u32(nodes[i].b);
        uint32x4_t node = vdupq_n_u32(i);
        uint32x4_t draw0 = draw4(&keys0, a, b), draw1 = draw4(&keys1, a, b);
        uint32x4_t draw2 = draw4(&keys2, a, b), draw3 = draw4(&keys3, a, b);
        keep_best4(&keys0, draw0, node);
        keep_best4(&keys1, draw1, node);
        keep_best4(&keys2, draw2, node);
        keep_best4(&keys3, draw3, node);
    }
    vst1q_u32(ret_nodes, keys0.index);
    vst1q_u32(ret_nodes + 4, keys1.index);
    vst1q_u32(ret_nodes + 8, keys2.index);
    vst1q_u32(ret_nodes + 12, keys3.index);
}
#endif

void rank_batch_equal(enum vectors vectors, const struct rank_node *nodes, uint32_t count,
                      const uint64_t *keys, size_t key_count, uint32_t *ret_nodes)
{
    size_t done = 0;
#if VECTORS_X86
    if (vectors >= VECTORS_AVX512) {
        rank_batch_avx512(nodes, count, keys, key_count / 64, ret_nodes);
        done = key_count / 64 * 64;
    }
    if (vectors >= VECTORS_AVX2) {
        rank_batch_avx2(nodes, count, keys + done, (key_count - done) / 16, ret_nodes + done);
        done += (key_count - done) / 16 * 16;
    }
#elif VECTORS_ARM
    if (vectors >= VECTORS_NEON)
        for (; done + 16 <= key_count; done += 16)
            best16_neon(nodes, count, keys + done, ret_nodes + done);
#endif
    for (; done < key_count; done++)
        ret_nodes[done] = rank_best_equal(nodes, count, keys[done]);
}
