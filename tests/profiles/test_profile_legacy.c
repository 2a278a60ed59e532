/*
 * The hashes of other systems against published check values. What the golden files do not pin
 * (lengths around block ends, digests) is pinned here.
 *
 * covers: legacy_md5, legacy_md5_batch, legacy_sha, legacy_crc, legacy_hash, profile_hash_batch
 * covers: legacy_murmur, legacy_spooky, legacy_haproxy, legacy_xxhash, legacy_text
 */
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "profiles/legacy_crc.h"
#include "profiles/legacy_digest.h"
#include "profiles/legacy_hash.h"

static void assert_hex(const uint8_t *bytes, size_t len, const char *want)
{
    char got[129] = "";
    for (size_t i = 0; i < len; i++)
        snprintf(got + 2 * i, 3, "%02x", bytes[i]);
    assert_string_equal(got, want);
}

static void md5_gives_the_digests_of_rfc_1321(void **state)
{
    static const char *const vectors[][2] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"a", "0cc175b9c0f1b6a831c399e269772661"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"12345678901234567890123456789012345678901234567890123456789012345678901234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
    };
    uint8_t digest[16];
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        legacy_md5(vectors[i][0], strlen(vectors[i][0]), digest);
        assert_hex(digest, 16, vectors[i][1]);
    }
}

/* A digest of the digests of 'x' repeated 0 to 199 times, compared with OpenSSL's. */
static void digests_are_right_at_every_length_around_the_ends_of_blocks(void **state)
{
    char text[200];
    uint8_t md5[200][16], sha1[200][20], sha256[200][32], digest[32];
    memset(text, 'x', sizeof text);
    for (size_t len = 0; len < 200; len++) {
        legacy_md5(text, len, md5[len]);
        legacy_sha1(text, len, sha1[len]);
        legacy_sha256(text, len, sha256[len]);
    }
    legacy_md5(md5, sizeof md5, digest);
    assert_hex(digest, 16, "236291006a2f1dc7b00bd978802ff8c6");
    legacy_sha1(sha1, sizeof sha1, digest);
    assert_hex(digest, 20, "bbd580c3a0c872a603baa084a09981df9eb680e5");
    legacy_sha256(sha256, sizeof sha256, digest);
    assert_hex(digest, 32, "f5e61141898898cdabae3590cb32e1901b40bdc59952302926213a44c105c129");
}

enum { MANY = 131, MANY_LEN_MAX = 400 };

/* Keys of random bytes in blocks of their very lengths, so that a byte read beyond is seen. */
struct many {
    void *keys[MANY];
    size_t lens[MANY];
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void make_many(struct many *many, uint32_t *random, size_t len_max)
{
    for (size_t i = 0; i < MANY; i++) {
        many->lens[i] = next_random(random) % (len_max + 1);
        many->keys[i] = malloc(many->lens[i] + !many->lens[i]);
        assert_non_null(many->keys[i]);
        for (size_t at = 0; at < many->lens[i]; at++)
            ((uint8_t *)many->keys[i])[at] = (uint8_t)next_random(random);
    }
}

static void free_many(struct many *many)
{
    for (size_t i = 0; i < MANY; i++)
        free(many->keys[i]);
}

static void assert_same_digests(enum vectors vectors, const struct many *many, size_t count)
{
    uint32_t words[MANY][4], one[4];
    legacy_md5_batch(vectors, (const void *const *)many->keys, many->lens, count, words);
    for (size_t i = 0; i < count; i++) {
        legacy_md5_words(many->keys[i], many->lens[i], one);
        if (memcmp(words[i], one, sizeof one) != 0)
            fail_msg("vectors %d, key %zu of %zu, %zu bytes long", (int)vectors, i, count,
                     many->lens[i]);
    }
}

/* Keys of one block, of several, and of more than the lanes take. */
static void keys_hashed_together_are_hashed_as_one_by_one_with_all_vectors(void **state)
{
    static const size_t len_max[] = {3, 20, 55, 130, MANY_LEN_MAX};
    uint32_t random = 20261130;
    for (int vectors = VECTORS_NONE; vectors <= (int)vectors_found(); vectors++)
        for (size_t i = 0; i < sizeof len_max / sizeof *len_max; i++) {
            struct many many;
            make_many(&many, &random, len_max[i]);
            for (size_t count = 0; count <= MANY; count += 1 + count / 4)
                assert_same_digests((enum vectors)vectors, &many, count);
            free_many(&many);
        }
}

static void every_length_is_padded_alike_in_a_lane_and_alone(void **state)
{
    uint8_t text[MANY_LEN_MAX];
    const void *key = text;
    uint32_t words[1][4], one[4];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)(i * 37);
    for (int vectors = VECTORS_NONE; vectors <= (int)vectors_found(); vectors++)
        for (size_t len = 0; len <= sizeof text; len++) {
            legacy_md5_batch((enum vectors)vectors, &key, &len, 1, words);
            legacy_md5_words(key, len, one);
            assert_memory_equal(words[0], one, sizeof one);
        }
}

/* One bit after the other, as the definition has it. */
static uint32_t crc32_by_bits(const uint8_t *at, size_t len)
{
    uint32_t state = UINT32_MAX;
    for (size_t i = 0; i < len * 8; i++) {
        uint32_t bit = (state ^ at[i / 8] >> i % 8) & 1;
        state = state >> 1 ^ (bit ? 0xedb88320u : 0);
    }
    return ~state;
}

static uint16_t crc16_by_bits(const uint8_t *at, size_t len)
{
    uint32_t state = 0;
    for (size_t i = 0; i < len * 8; i++) {
        uint32_t bit = (state >> 15 ^ at[i / 8] >> (7 - i % 8)) & 1;
        state = (state << 1 ^ (bit ? 0x1021u : 0)) & 0xffff;
    }
    return (uint16_t)state;
}

static void checksums_of_eight_bytes_a_step_are_those_of_their_definition(void **state)
{
    struct many many;
    uint32_t random = 7;
    make_many(&many, &random, 90);
    for (size_t i = 0; i < MANY; i++) {
        const uint8_t *key = many.keys[i];
        size_t len = many.lens[i], half = len / 2;
        uint32_t rest = legacy_crc32_continue(UINT32_MAX, key, half);
        assert_int_equal(legacy_crc32(key, len), crc32_by_bits(key, len));
        assert_int_equal(~legacy_crc32_continue(rest, key + half, len - half),
                         crc32_by_bits(key, len));
        assert_int_equal(legacy_crc16(key, len), crc16_by_bits(key, len));
        assert_int_equal(legacy_crc16_wide(key, len) & 0xffff, crc16_by_bits(key, len));
    }
    free_many(&many);
}

static void sha_gives_the_digests_of_the_standard(void **state)
{
    uint8_t digest[32];
    legacy_sha1("abc", 3, digest);
    assert_hex(digest, 20, "a9993e364706816aba3e25717850c26c9cd0d89d");
    legacy_sha256("abc", 3, digest);
    assert_hex(digest, 32, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void checksums_have_their_check_values(void **state)
{
    assert_int_equal(legacy_crc32("123456789", 9), 0xcbf43926);
    assert_int_equal(legacy_crc16("123456789", 9), 0x31c3);
    assert_int_equal(legacy_crc16_wide("123456789", 9) & 0xffff, 0x31c3);
    assert_int_not_equal(legacy_crc16_wide("123456789", 9), 0x31c3);
}

static void each_hash_has_its_published_value(void **state)
{
    assert_int_equal(legacy_one_at_a_time("a", 1, 0), 0xca2e9442);
    assert_int_equal(legacy_fnv1_32("foobar", 6, 0), 0x31f0b262);
    assert_int_equal(legacy_fnv1a_32("foobar", 6, 0), 0xbf9cf968);
    assert_int_equal(legacy_fnv1_64("foobar", 6, 0), 0x340d8765a4dda9c2u & 0xffffffffu);
    assert_int_equal(legacy_murmur3_32("", 0, 1), 0x514e28b7);
    assert_int_equal(legacy_murmur3_32("", 0, 0xffffffff), 0x81f16f39);
    assert_int_equal(legacy_xxh64("", 0, 0), 0xef46db3751d8e999u);
    assert_int_equal(legacy_xxh32("", 0, 0), 0x02cc5d05);
    assert_int_equal(legacy_java_hash("hello", 5, 0), 99162322);
}

static void signed_kinds_differ_only_for_bytes_of_128_and_above(void **state)
{
    static const struct {
        legacy_hash_fn *is_signed, *is_unsigned;
    } pairs[] = {
        {legacy_one_at_a_time_signed, legacy_one_at_a_time},
        {legacy_fnv1_32_signed, legacy_fnv1_32},
        {legacy_fnv1a_32_signed, legacy_fnv1a_32},
        {legacy_fnv1_64_signed, legacy_fnv1_64},
        {legacy_fnv1a_64_signed, legacy_fnv1a_64},
        {legacy_hsieh_signed, legacy_hsieh},
        {legacy_murmur3_128_signed, legacy_murmur3_128},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_true(pairs[i].is_signed("abcdefg", 7, 0) == pairs[i].is_unsigned("abcdefg", 7, 0));
        assert_true(pairs[i].is_signed("abcd\xc3\xa9\xc3", 7, 0) !=
                    pairs[i].is_unsigned("abcd\xc3\xa9\xc3", 7, 0));
    }
}

static void characters_are_those_of_utf8_and_of_utf16(void **state)
{
    uint8_t latin[16];
    assert_int_equal(legacy_java_hash("\xc3\xa9", 2, 0), 0xe9);
    assert_int_equal(legacy_java_hash("\xf0\x9f\x98\x80", 4, 0), 0xd83d * 31 + 0xde00);
    assert_int_equal(legacy_java_hash("\xff", 1, 0), 0xfffd);
    assert_int_equal(legacy_java_hash("\xc3", 1, 0), 0xfffd);
    assert_int_equal(legacy_latin_of_utf8("a\xc3\xa9\xe2\x82\xac", 6, latin), 3);
    assert_int_equal(latin[0], 'a');
    assert_int_equal(latin[1], 0xe9);
    assert_int_equal(latin[2], 0xac);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(md5_gives_the_digests_of_rfc_1321),
        cmocka_unit_test(digests_are_right_at_every_length_around_the_ends_of_blocks),
        cmocka_unit_test(keys_hashed_together_are_hashed_as_one_by_one_with_all_vectors),
        cmocka_unit_test(every_length_is_padded_alike_in_a_lane_and_alone),
        cmocka_unit_test(checksums_of_eight_bytes_a_step_are_those_of_their_definition),
        cmocka_unit_test(sha_gives_the_digests_of_the_standard),
        cmocka_unit_test(checksums_have_their_check_values),
        cmocka_unit_test(each_hash_has_its_published_value),
        cmocka_unit_test(signed_kinds_differ_only_for_bytes_of_128_and_above),
        cmocka_unit_test(characters_are_those_of_utf8_and_of_utf16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
