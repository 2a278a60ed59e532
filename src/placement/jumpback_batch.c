/*
 * JumpBackHash of 8 hashes at a time with AVX-512, of 4 with NEON: the first bucket of each, which
 * is the answer for most; the few whose first bucket is not there yet are done one by one.
 */
#include "placement/jumpback.h"

#if VECTORS_X86
#include <immintrin.h>

/* The parity of the bits of each lane. */
static inline TARGET_AVX512 __m512i parity(__m512i x)
{
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 16));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 8));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 4));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 2));
    x = _mm512_xor_si512(x, _mm512_srli_epi64(x, 1));
    return _mm512_and_si512(x, _mm512_set1_epi64(1));
}

/* First buckets; returns the lanes for which there is none below the count. */
static inline TARGET_AVX512 __mmask8 first8(const uint64_t *hashes, uint32_t bucket_count,
                                            uint32_t *ret_buckets)
{
    const __m512i one = _mm512_set1_epi64(1);
    const __m512i mask = _mm512_set1_epi64(UINT32_MAX >> __builtin_clz(bucket_count - 1));
    __m512i hash = _mm512_loadu_si512(hashes);
    __m512i bits = _mm512_and_si512(_mm512_xor_si512(hash, _mm512_srli_epi64(hash, 32)), mask);
    /* With no bits the count of zeros is 64, the shift gives 0, and bucket 0 comes out. */
    __m512i start = _mm512_sllv_epi64(
        one, _mm512_sub_epi64(_mm512_set1_epi64(63), _mm512_lzcnt_epi64(bits)));
    __m512i half = _mm512_slli_epi64(parity(bits), 5);
    __m512i offset = _mm512_and_si512(_mm512_srlv_epi64(hash, half), _mm512_sub_epi64(start, one));
    __m512i bucket = _mm512_maskz_add_epi64(_mm512_test_epi64_mask(bits, bits), start, offset);
    _mm256_storeu_si256((__m256i *)(void *)ret_buckets, _mm512_cvtepi64_epi32(bucket));
    return _mm512_cmpge_epu64_mask(bucket, _mm512_set1_epi64(bucket_count));
}

static TARGET_AVX512 void jumpback8(const uint64_t *hashes, uint32_t bucket_count,
                                    uint32_t *ret_buckets)
{
    unsigned left = first8(hashes, bucket_count, ret_buckets);
    for (; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        ret_buckets[i] = jumpback_bucket(hashes[i], bucket_count);
    }
}
#endif

#if VECTORS_ARM
#include <arm_neon.h>

/* All ones in the lanes with an odd number of bits. */
static inline uint32x4_t odd(uint32x4_t x)
{
    uint8x16_t counts = vcntq_u8(vreinterpretq_u8_u32(x));
    return vtstq_u32(vpaddlq_u16(vpaddlq_u8(counts)), vdupq_n_u32(1));
}

/* First buckets; some are at or above the count. */
static inline uint32x4_t first4(const uint64_t *hashes, uint32_t bucket_count)
{
    const uint32x4_t one = vdupq_n_u32(1);
    const uint32x4_t mask = vdupq_n_u32(UINT32_MAX >> __builtin_clz(bucket_count - 1));
    uint64x2_t hash0 = vld1q_u64(hashes), hash1 = vld1q_u64(hashes + 2);
    uint32x4_t low = vcombine_u32(vmovn_u64(hash0), vmovn_u64(hash1));
    uint32x4_t high = vcombine_u32(vshrn_n_u64(hash0, 32), vshrn_n_u64(hash1, 32));
    uint32x4_t bits = vandq_u32(veorq_u32(low, high), mask);
    /* With no bits the count of zeros is 32, the shift is one to the right, and start is 0. */
    int32x4_t zeros = vreinterpretq_s32_u32(vclzq_u32(bits));
    uint32x4_t start = vshlq_u32(one, vsubq_s32(vdupq_n_s32(31), zeros));
    uint32x4_t half = vbslq_u32(odd(bits), high, low);
    uint32x4_t bucket = vaddq_u32(start, vandq_u32(half, vsubq_u32(start, one)));
    return vandq_u32(bucket, vtstq_u32(bits, bits));
}

static void jumpback4(const uint64_t *hashes, uint32_t bucket_count, uint32_t *ret_buckets)
{
    uint32x4_t buckets = first4(hashes, bucket_count);
    vst1q_u32(ret_buckets, buckets);
    if (vmaxvq_u32(buckets) < bucket_count)
        return;
    for (int i = 0; i < 4; i++)
        if (ret_buckets[i] >= bucket_count)
            ret_buckets[i] = jumpback_bucket(hashes[i], bucket_count);
}
#endif

void jumpback_batch(enum vectors vectors, const uint64_t *hashes, size_t count,
                    uint32_t bucket_count, uint32_t *ret_buckets)
{
    size_t done = 0;
#if VECTORS_X86
    if (vectors >= VECTORS_AVX512 && bucket_count > 1)
        for (; done + 8 <= count; done += 8)
            jumpback8(hashes + done, bucket_count, ret_buckets + done);
#elif VECTORS_ARM
    if (vectors >= VECTORS_NEON && bucket_count > 1)
        for (; done + 4 <= count; done += 4)
            jumpback4(hashes + done, bucket_count, ret_buckets + done);
#endif
    for (; done < count; done++)
        ret_buckets[done] = jumpback_bucket(hashes[done], bucket_count);
}
