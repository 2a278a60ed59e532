/*
 * The digests that other systems place keys with: MD5 (RFC 1321), SHA-1 and SHA-256 (FIPS 180-4).
 * Placement needs their numbers, not their secrecy: none of this is for security. Written for short
 * inputs, one call from start to end.
 */
#ifndef PROFILES_LEGACY_DIGEST_H
#define PROFILES_LEGACY_DIGEST_H

#include "placement/vectors.h"

#include <stddef.h>
#include <stdint.h>

void legacy_md5(const void *data, size_t len, uint8_t ret_digest[16]);
/* The digest as the four little-endian words that it is made of; what ketama reads. */
void legacy_md5_words(const void *data, size_t len, uint32_t ret_words[4]);
/* Those words for many keys at once, with these vectors. */
void legacy_md5_batch(enum vectors vectors, const void *const *keys, const size_t *lens,
                      size_t count, uint32_t (*ret_words)[4]);
void legacy_sha1(const void *data, size_t len, uint8_t ret_digest[20]);
void legacy_sha256(const void *data, size_t len, uint8_t ret_digest[32]);

#endif
