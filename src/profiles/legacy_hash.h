/*
 * The hash functions that other systems place keys with, to the bit. All take bytes; plain char is
 * signed on x86 and unsigned on ARM, and where a system adds plain chars the function comes in
 * both kinds: `_signed` sees a byte of 0x80 and above as a negative number.
 *
 * Thread-safe, no state, no allocation. Costs are a few bytes a nanosecond; a key is short.
 */
#ifndef PROFILES_LEGACY_HASH_H
#define PROFILES_LEGACY_HASH_H

#include <stddef.h>
#include <stdint.h>

/* One signature for all, so that a profile names its hash in a table. Results of 32 bits leave the
 * upper half 0; seed is ignored where the function has none. */
typedef uint64_t legacy_hash_fn(const void *key, size_t len, uint64_t seed);

/* The libmemcached family (legacy_hash.c), shared by twemproxy. */
legacy_hash_fn legacy_one_at_a_time, legacy_one_at_a_time_signed;
legacy_hash_fn legacy_fnv1_32, legacy_fnv1_32_signed, legacy_fnv1a_32, legacy_fnv1a_32_signed;
legacy_hash_fn legacy_fnv1_64, legacy_fnv1_64_signed; /* the low half of 64 bits */
/* A register of 32 bits with the low halves of the 64-bit constants: its low half of FNV-1a-64 for
 * ASCII, and something of its own for signed bytes. */
legacy_hash_fn legacy_fnv1a_64, legacy_fnv1a_64_signed;
legacy_hash_fn legacy_hsieh, legacy_hsieh_signed;
legacy_hash_fn legacy_jenkins; /* lookup3, initval 13 */

/* The Murmur family (legacy_murmur.c). */
legacy_hash_fn legacy_murmur2;           /* 32 bits */
legacy_hash_fn legacy_murmur2_by_length; /* seed 0xdeadbeef * length */
legacy_hash_fn legacy_murmur3_32;
legacy_hash_fn legacy_murmur3_32_by_length;
legacy_hash_fn legacy_murmur64a;
legacy_hash_fn legacy_murmur3_128;        /* the first word */
legacy_hash_fn legacy_murmur3_128_signed; /* the tail's bytes as signed: Cassandra's */

/* Spooky version 2 (legacy_spooky.c), the low 32 bits. */
legacy_hash_fn legacy_spooky32;

/* HAProxy's (legacy_haproxy.c). full_hash is its avalanche. */
legacy_hash_fn legacy_sdbm, legacy_djb2, legacy_wt6, legacy_decimal;
uint32_t legacy_full_hash(uint32_t value);

/* xxHash (legacy_xxhash.c). */
legacy_hash_fn legacy_xxh32, legacy_xxh64, legacy_xxh3;

/* murmur2 as kafkajs 1.x carried it out, in JavaScript's doubles (legacy_kafkajs.c); 31 bits. */
legacy_hash_fn legacy_murmur2_js;

/* Hashes of characters rather than bytes (legacy_text.c): the key is UTF-8, an ill-formed byte
 * counts as U+FFFD. java_* run over UTF-16 units. */
legacy_hash_fn legacy_java_hash; /* String.hashCode() */
legacy_hash_fn legacy_java_fnv1_32, legacy_java_fnv1a_32, legacy_java_fnv1_64, legacy_java_fnv1a_64;
/* Writes the code points & 0xff, one byte each; returns how many. ret holds len bytes. */
size_t legacy_latin_of_utf8(const void *text, size_t len, uint8_t *ret);

#endif
