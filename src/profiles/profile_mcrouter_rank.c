/*
 * The greatest draw of many keys: a lane of a vector is a key, as in placement/rank_batch.c.
 * AVX-512 alone multiplies and converts 64 bits a lane.
 */
#include "profiles/profile_mcrouter_rank.h"

#if VECTORS_X86
#include <immintrin.h>

enum { WIDTH = 16 }; /* keys, in two vectors side by side */

struct best {
    __m512d score;
    __m512i server;
};

static inline TARGET_AVX512 __m512i draw(__m512i server, __m512i key)
{
    const __m512i m = _mm512_set1_epi64((long long)0x9ddfea08eb382d69u);
    __m512i a = _mm512_mullo_epi64(_mm512_xor_si512(key, server), m);
    a = _mm512_xor_si512(a, _mm512_srli_epi64(a, 47));
    __m512i b = _mm512_mullo_epi64(_mm512_xor_si512(server, a), m);
    b = _mm512_xor_si512(b, _mm512_srli_epi64(b, 47));
    return _mm512_mullo_epi64(b, m);
}

static inline TARGET_AVX512 void keep_best(struct best *best, __m512i drawn, __m512i server)
{
    __m512d score = _mm512_cvtepu64_pd(drawn);
    __mmask8 wins = _mm512_cmp_pd_mask(score, best->score, _CMP_GE_OQ);
    best->score = _mm512_mask_mov_pd(best->score, wins, score);
    best->server = _mm512_mask_mov_epi64(best->server, wins, server);
}

static TARGET_AVX512 void rank16(const uint64_t *servers, uint32_t count, const uint64_t *keys,
                                 uint32_t *ret_servers)
{
    __m512i keys0 = _mm512_loadu_si512(keys), keys1 = _mm512_loadu_si512(keys + 8);
    struct best best0 = {_mm512_setzero_pd(), _mm512_setzero_si512()}, best1 = best0;
    for (uint32_t i = 0; i < count; i++) {
        __m512i server = _mm512_set1_epi64((long long)servers[i]);
        __m512i number = _mm512_set1_epi64(i);
        keep_best(&best0, draw(server, keys0), number);
        keep_best(&best1, draw(server, keys1), number);
    }
    _mm256_storeu_si256((__m256i *)(void *)ret_servers, _mm512_cvtepi64_epi32(best0.server));
    _mm256_storeu_si256((__m256i *)(void *)(ret_servers + 8), _mm512_cvtepi64_epi32(best1.server));
}
#endif

static uint32_t rank_one(const uint64_t *servers, uint32_t count, uint64_t key)
{
    double best_score = 0;
    uint32_t best = 0;
    for (uint32_t i = 0; i < count; i++) {
        double score = (double)mcrouter_combine(servers[i], key);
        if (score >= best_score) {
            best_score = score;
            best = i;
        }
    }
    return best;
}

void mcrouter_rank(enum vectors vectors, const uint64_t *servers, uint32_t server_count,
                   const uint64_t *keys, size_t key_count, uint32_t *ret_servers)
{
    size_t done = 0;
#if VECTORS_X86
    for (; vectors >= VECTORS_AVX512 && done + WIDTH <= key_count; done += WIDTH)
        rank16(servers, server_count, keys + done, ret_servers + done);
#endif
    for (; done < key_count; done++)
        ret_servers[done] = rank_one(servers, server_count, keys[done]);
}
