/*
 * Round-hashing of 8 hashes at a time with AVX-512; the same integers as round_locate(), with the
 * high half of 64 x 32 bits from two products of 32 x 32.
 */
#include "placement/round_batch.h"

#if VECTORS_X86
#include <immintrin.h>

static inline TARGET_AVX512 __m512i servers8(const struct round *round, __m512i hash)
{
    const __m512i one = _mm512_set1_epi64(1), zero = _mm512_setzero_si512();
    const __m512i e = _mm512_set1_epi64(round->e);
    const __m512i base = _mm512_set1_epi64((int64_t)1 << round->base_bits);
    __m512i q = _mm512_srlv_epi64(hash, _mm512_set1_epi64(64 - round->e)); /* 0 for a shift of 64 */
    __m512i f = _mm512_sllv_epi64(hash, e);
    __mmask8 cut = _mm512_cmplt_epu64_mask(q, _mm512_set1_epi64(round->cut_count));
    __m512i arcs = _mm512_set1_epi64(round->s);
    arcs = _mm512_mask_add_epi64(arcs, cut, arcs, one);
    __m512i low = _mm512_srli_epi64(_mm512_mul_epu32(f, arcs), 32);
    __m512i p = _mm512_srli_epi64(
        _mm512_add_epi64(_mm512_mul_epu32(_mm512_srli_epi64(f, 32), arcs), low), 32);
    /* Below the base: the position was made in a group before splits, as many as q has trailing
     * zeros and one. For q = 0 the lowest bit is 0, its count of zeros 64, and p is the server. */
    __m512i lowest = _mm512_and_si512(q, _mm512_sub_epi64(zero, q));
    __m512i splits = _mm512_sub_epi64(_mm512_set1_epi64(64), _mm512_lzcnt_epi64(lowest));
    __mmask8 old = _mm512_cmplt_epu64_mask(p, base);
    __mmask8 split = _mm512_mask_test_epi64_mask(old, q, q);
    __m512i position = _mm512_mask_add_epi64(p, split, p, base);
    __m512i server = _mm512_add_epi64(_mm512_sllv_epi64(position, e), q);
    server = _mm512_mask_srlv_epi64(server, split, server, splits);
    return _mm512_mask_mov_epi64(server, (__mmask8)(old & ~split), p);
}

enum { BLOCK = 64 };

/* The numbers of nodes are fetched one by one: a gather is no faster than the loads it is made of.
 */
static TARGET_AVX512 void round_batch_avx512(const struct round *round, const uint64_t *hashes,
                                             size_t block_count, const uint32_t *nodes,
                                             uint32_t *ret_nodes)
{
    const struct round own = *round; /* so that no store may change it */
    for (size_t at = 0; at < block_count * BLOCK; at += BLOCK) {
        uint32_t servers[BLOCK];
        for (unsigned i = 0; i < BLOCK; i += 8)
            _mm256_storeu_si256(
                (__m256i *)(void *)(servers + i),
                _mm512_cvtepi64_epi32(servers8(&own, _mm512_loadu_si512(hashes + at + i))));
        for (unsigned i = 0; i < BLOCK; i++)
            ret_nodes[at + i] = nodes[servers[i]];
    }
}
#endif

void round_batch(enum vectors vectors, const struct round *round, const uint64_t *hashes,
                 size_t count, const uint32_t *nodes, uint32_t *ret_nodes)
{
    size_t done = 0;
#if VECTORS_X86
    if (vectors >= VECTORS_AVX512) {
        done = count / BLOCK * BLOCK;
        round_batch_avx512(round, hashes, count / BLOCK, nodes, ret_nodes);
    }
#endif
    for (; done < count; done++)
        ret_nodes[done] = nodes[round_locate(round, hashes[done])];
}
