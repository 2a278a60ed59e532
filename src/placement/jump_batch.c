/*
 * Jump of 32 keys at a time with AVX-512, of 8 with NEON: the paper's very formula in doubles, so
 * that each lane computes what the loop would, bit for bit. Lanes that have arrived keep their
 * bucket and wait; a lane alone is rare, as keys need about ln(n) rounds and hardly twice that.
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

#if VECTORS_ARM
#include <arm_neon.h>

struct lanes {
    uint64x2_t key;
    float64x2_t bucket, next; /* whole numbers below 2^31 (next: below 2^62), exact in a double */
};

/* key * 2862933555777941757 + 1 from products of 32 bits: NEON has none of 64. */
static inline uint64x2_t next_key(uint64x2_t key)
{
    const uint64_t factor = 2862933555777941757;
    uint32x2_t high = vshrn_n_u64(key, 32), low = vmovn_u64(key);
    uint32x2_t cross = vmul_n_u32(high, (uint32_t)factor);
    cross = vmla_n_u32(cross, low, (uint32_t)(factor >> 32));
    uint64x2_t sum = vaddq_u64(vshlq_n_u64(vmovl_u32(cross), 32), vdupq_n_u64(1));
    return vmlal_n_u32(sum, low, (uint32_t)factor);
}

/* One round of the lanes whose next is below the count; returns which those were. */
static inline uint64x2_t step(struct lanes *lanes, float64x2_t count)
{
    const float64x2_t one = vdupq_n_f64(1), scale = vdupq_n_f64((double)((int64_t)1 << 31));
    uint64x2_t active = vcltq_f64(lanes->next, count);
    lanes->bucket = vbslq_f64(active, lanes->next, lanes->bucket);
    lanes->key = next_key(lanes->key);
    /* The key's upper 31 bits plus one: exact. */
    float64x2_t divisor = vaddq_f64(vcvtq_f64_u64(vshrq_n_u64(lanes->key, 33)), one);
    float64x2_t jump = vmulq_f64(vaddq_f64(lanes->bucket, one), vdivq_f64(scale, divisor));
    lanes->next = vbslq_f64(active, vrndq_f64(jump), lanes->next); /* rounds towards 0 */
    return active;
}

static inline struct lanes start(const uint64_t *keys)
{
    return (struct lanes){vld1q_u64(keys), vdupq_n_f64(0), vdupq_n_f64(0)};
}

static inline void store(const struct lanes *lanes, uint32_t *ret_buckets)
{
    vst1_u32(ret_buckets, vmovn_u64(vcvtq_u64_f64(lanes->bucket)));
}

/* Four by name: gcc writes an array of them to memory in every round. */
static void jump8(const uint64_t *keys, uint32_t bucket_count, uint32_t *ret_buckets)
{
    const float64x2_t count = vdupq_n_f64(bucket_count);
    struct lanes lanes0 = start(keys), lanes1 = start(keys + 2);
    struct lanes lanes2 = start(keys + 4), lanes3 = start(keys + 6);
    uint64x2_t active;
    do {
        active = step(&lanes0, count);
        active = vorrq_u64(active, step(&lanes1, count));
        active = vorrq_u64(active, step(&lanes2, count));
        active = vorrq_u64(active, step(&lanes3, count));
    } while (vgetq_lane_u64(active, 0) | vgetq_lane_u64(active, 1));
    store(&lanes0, ret_buckets);
    store(&lanes1, ret_buckets + 2);
    store(&lanes2, ret_buckets + 4);
    store(&lanes3, ret_buckets + 6);
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
#elif VECTORS_ARM
    if (vectors >= VECTORS_NEON)
        for (; done + 8 <= count; done += 8)
            jump8(keys + done, bucket_count, ret_buckets + done);
#endif
    for (; done < count; done++)
        ret_buckets[done] = jump_bucket(keys[done], bucket_count);
}
