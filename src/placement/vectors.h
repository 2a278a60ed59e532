/*
 * Which vector instructions a batch may use. Found out when a map is made and kept in it, so that a
 * batch does not ask again and a test can have a map without.
 */
#ifndef PLACEMENT_VECTORS_H
#define PLACEMENT_VECTORS_H

/* A processor with one of x86's has those of x86 before it; NEON stands below them, so that ARM
 * never seems to have one. */
enum vectors { VECTORS_NONE, VECTORS_NEON, VECTORS_AVX2, VECTORS_AVX512 };

/* Functions for one kind of processor inside a program for all. */
#if defined(__x86_64__)
#define VECTORS_X86   1
#define TARGET_AVX2   __attribute__((target("avx2")))
#define TARGET_AVX512 __attribute__((target("avx2,avx512f,avx512dq,avx512cd,avx512bw,avx512vl")))
#else
#define VECTORS_X86 0
#endif

/* Every 64-bit ARM has NEON; a compiler told to leave its registers alone does not. */
#if defined(__aarch64__) && defined(__ARM_NEON)
#define VECTORS_ARM 1
#else
#define VECTORS_ARM 0
#endif

static inline enum vectors vectors_found(void)
{
#if VECTORS_X86
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
        return VECTORS_AVX512;
    if (__builtin_cpu_supports("avx2"))
        return VECTORS_AVX2;
#endif
    return VECTORS_ARM ? VECTORS_NEON : VECTORS_NONE;
}

#endif
