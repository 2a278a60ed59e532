/*
 * Jump of 32 keys at a time with AVX-512: the paper's very formula in doubles, so that each lane
 * computes what the loop would, bit for bit. Lanes that have arrived keep their bucket and wait; a
 * lane alone is rare, as keys need about ln(n) rounds and hardly twice that.
 */
#include "placement/jump.h"

#if VECTORS_X86
#include <immintrin.h>

struct lanes {
    __m512i key;
    __m512d bucket, next; /* whole numbers below 2^31 (next: below 2^62), exact in a double */
};

static inline TARGET_AVX512 struct lanes start(const uint64_t *keys)
{
    return (struct lanes){_mm512_loadu_si512(keys), _mm512_setzero_pd(), _mm512_setzero_pd()};
}

/* One round of the lanes whose next is below the count; returns which those were. */
static inline TARGET_AVX512 __mmask8 step(struct lanes *lanes, __m512d count)
{
    const __m512d one = _mm512_set1_pd(1), scale = _mm512_set1_pd((double)((int64_t)1 << 31));
    __mmask8 active = _mm512_cmp_pd_mask(lanes->next, count, _CMP_LT_OQ);
    lanes->bucket = _mm512_mask_mov_pd(lanes->bucket, active, lanes->next);
    lanes->key = _mm512_add_epi64(
        _mm512_mullo_epi64(lanes->key, _mm512_set1_epi64(2862933555777941757)),
        _mm512_set1_epi64(1));
    /* The key's upper 31 bits plus one: exact. */
    __m512d divisor = _mm512_add_pd(_mm512_cvtepi64_pd(_mm512_srli_epi64(lanes->key, 33)), one);
    __m512d jump = _mm512_mul_pd(_mm512_add_pd(lanes->bucket, one), _mm512_div_pd(scale, divisor));
    lanes->next = _mm512_mask_roundscale_pd(lanes->next, active, jump,
                                            _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    return active;
}

static TARGET_AVX512 void jump32(const uint64_t *keys, uint32_t bucket_count, uint32_t *ret_buckets)
{
    const __m512d count = _mm512_set1_pd(bucket_count);
    struct lanes lanes[4];
    unsigned active = 1;
    for (int i = 0; i < 4; i++)
        lanes[i] = start(keys + i * 8);
    while (active) {
        active = step(&lanes[0], count);
        active |= step(&lanes[1], count);
        active |= step(&lanes[2], count);
        active |= step(&lanes[3], count);
    }
    for (int i = 0; i < 4; i++)
        _mm256_storeu_si256((__m256i *)(void *)(ret_buckets + i * 8),
                            _mm512_cvttpd_epi32(lanes[i].bucket));
}
#endif

void jump_batch(enum vectors vectors, const uint64_t *keys, size_t count, uint32_t bucket_count,
                uint32_t *ret_buckets)
{
    size_t done = 0;
#if VECTORS_X86
    if (vectors >= VECTORS_AVX512)
        for (; done + 32 <= count; done += 32)
            jump32(keys + done, bucket_count, ret_buckets + done);
#endif
    for (; done < count; done++)
        ret_buckets[done] = jump_bucket(keys[done], bucket_count);
}
