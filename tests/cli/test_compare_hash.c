#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <clockwise/clockwise.h>

#include "cli/compare_hash.h"

/* count keys by a format, as a tally on the heap. */
static struct hash_tally *tally_of(const char *format, int count)
{
    struct hash_tally *tally = calloc(1, sizeof *tally);
    assert_non_null(tally);
    for (int i = 0; i < count; i++) {
        char key[64];
        int len = snprintf(key, sizeof key, "%s%d", format, i);
        hash_tally_add(tally, key, (size_t)len, cw_hash(key, (size_t)len));
    }
    return tally;
}

static void drop(struct hash_tally *tally)
{
    hash_tally_release(tally);
    free(tally);
}

static void xxh3_spreads_numbered_keys_and_fnv1a_does_not(void **state)
{
    struct hash_result results[HASH_COUNT];
    struct hash_tally *tally = tally_of("key:5", 100000);
    hash_results(tally, results);
    assert_string_equal(results[HASH_XXH3].name, "XXH3");
    assert_int_equal(results[HASH_XXH3].ends[HASH_HIGH].verdict, HASH_AS_CHANCE);
    assert_int_equal(results[HASH_XXH3].ends[HASH_LOW].verdict, HASH_AS_CHANCE);
    assert_int_equal(results[HASH_MD5].ends[HASH_HIGH].verdict, HASH_AS_CHANCE);
    assert_int_equal(results[HASH_FNV1A].ends[HASH_HIGH].verdict, HASH_SKEWED);
    assert_true(results[HASH_FNV1A].ends[HASH_HIGH].excess > 0.05);
    for (size_t i = 0; i < HASH_COUNT; i++) {
        uint64_t shown = 0;
        for (size_t j = 0; j < HASH_SHOWN; j++)
            shown += results[i].shown[j];
        assert_int_equal(shown, 100000);
        assert_true(results[i].ns > 0);
    }
    drop(tally);
}

static void chi_square_is_pearsons(void **state)
{
    uint64_t buckets[HASH_BUCKETS] = {0};
    /* Four buckets' worth in one of 16: 256 keys, 16 expected in each. */
    buckets[0] = 64;
    for (size_t i = 1; i < 13; i++)
        buckets[i * HASH_BUCKETS / 16] = 16;
    struct hash_spread spread = hash_spread_of(buckets, HASH_HIGH, 256);
    assert_int_equal(spread.bucket_count, 16);
    assert_true(fabs(spread.chi_square - (48.0 * 48 / 16 + 3 * 16)) < 1e-9);
    assert_int_equal(spread.verdict, HASH_SKEWED);
    /* By their low bits all are in bucket 0. */
    spread = hash_spread_of(buckets, HASH_LOW, 256);
    assert_true(fabs(spread.chi_square - (240.0 * 240 / 16 + 15 * 16)) < 1e-9);
}

static void equal_buckets_are_more_even_than_chance(void **state)
{
    uint64_t buckets[HASH_BUCKETS];
    for (size_t i = 0; i < HASH_BUCKETS; i++)
        buckets[i] = 100;
    struct hash_spread spread = hash_spread_of(buckets, HASH_HIGH, 100 * HASH_BUCKETS);
    assert_int_equal(spread.bucket_count, HASH_BUCKETS);
    assert_true(spread.chi_square == 0 && spread.excess == 0);
    assert_int_equal(spread.verdict, HASH_TOO_EVEN);
}

static void few_keys_prove_nothing(void **state)
{
    struct hash_result results[HASH_COUNT];
    struct hash_tally *tally = tally_of("key", 100);
    hash_results(tally, results);
    assert_int_equal(results[HASH_XXH3].ends[HASH_HIGH].verdict, HASH_TOO_FEW);
    assert_int_equal(results[HASH_XXH3].ends[HASH_HIGH].bucket_count, 16);
    drop(tally);
    tally = tally_of("", 0);
    hash_results(tally, results);
    assert_int_equal(results[HASH_MD5].ends[HASH_LOW].verdict, HASH_TOO_FEW);
    assert_true(results[HASH_MD5].ns == 0);
    drop(tally);
    assert_string_equal(hash_verdict_text(HASH_SKEWED), "skewed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(xxh3_spreads_numbered_keys_and_fnv1a_does_not),
        cmocka_unit_test(chi_square_is_pearsons),
        cmocka_unit_test(equal_buckets_are_more_even_than_chance),
        cmocka_unit_test(few_keys_prove_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
