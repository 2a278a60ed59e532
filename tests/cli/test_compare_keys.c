/* covers: compare_make */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <clockwise/clockwise.h>

#include "cli/compare_keys.h"

static struct key_set *create(size_t key_max)
{
    struct key_set *set = key_set_create(key_max);
    assert_non_null(set);
    return set;
}

static void add(struct key_set *set, const char *key)
{
    assert_int_equal(key_set_add(set, key, strlen(key)), 0);
}

static void add_number(struct key_set *set, const char *prefix, int number)
{
    char key[64];
    snprintf(key, sizeof key, "%s%d", prefix, number);
    add(set, key);
}

static void repeated_keys_are_found_and_the_first_are_named(void **state)
{
    struct key_set *set = create(1000000);
    /* Key i of the first 30 comes 31-i times, in rounds, among 50,000 that come once. */
    for (int i = 0; i < 50000; i++) {
        add_number(set, "once:", i);
        for (int j = 0; j < 30 && i < 31; j++)
            if (i < 31 - j)
                add_number(set, "often:", j);
    }
    key_set_finish(set);
    assert_int_equal(set->count, 50030);
    assert_int_equal(set->repeated, 30);
    assert_int_equal(set->lines, 50000 + (31 * 32 / 2 - 1));
    assert_int_equal(set->lines_seen, set->lines);
    assert_int_equal(set->top_count, KEY_TOP_MAX);
    for (int i = 0; i < KEY_TOP_MAX; i++) {
        char want[16];
        int len = snprintf(want, sizeof want, "often:%d", i);
        assert_int_equal(set->top[i].count, 31 - i);
        assert_int_equal(set->top[i].len, len);
        assert_memory_equal(set->top[i].text, want, (size_t)len);
    }
    key_set_destroy(&set);
    assert_null(set);
}

static void keys_that_come_once_have_no_first(void **state)
{
    struct key_set *set = create(1000000);
    for (int i = 0; i < 1000; i++)
        add_number(set, "", i);
    key_set_finish(set);
    assert_int_equal(set->top_count, 0);
    assert_true(set->square_sum == 1000);
    key_set_destroy(&set);
}

static void keys_with_one_hash_tag_are_one(void **state)
{
    struct key_set *set = create(1000);
    add(set, "{cart:7}:items");
    add(set, "{cart:7}:total");
    add(set, "cart:7");
    key_set_finish(set);
    assert_int_equal(set->count, 1);
    assert_int_equal(set->counts[0], 3);
    assert_true(set->hashes[0] == cw_hash("cart:7", 6));
    assert_memory_equal(set->top[0].text, "cart:7", 6);
    key_set_destroy(&set);
}

static void more_keys_than_fit_are_sampled_with_all_their_lines(void **state)
{
    enum { KEYS = 100000, ROUNDS = 3 };
    struct key_set *set = create(10000);
    for (int i = 0; i < KEYS * ROUNDS; i++)
        add_number(set, "key:", i % KEYS);
    key_set_finish(set);
    assert_int_equal(set->lines_seen, KEYS * ROUNDS);
    assert_true(set->count <= 10000 && set->count > 4000);
    assert_int_equal(set->sample_bits, 4);
    /* A key that is in the sample at the end was in it all the time: none of its lines is lost. */
    for (size_t i = 0; i < set->count; i++)
        assert_int_equal(set->counts[i], ROUNDS);
    assert_int_equal(set->lines, set->count * ROUNDS);
    double scaled = (double)(set->count << set->sample_bits);
    assert_true(fabs(scaled / KEYS - 1) < 0.05);
    key_set_destroy(&set);
}

static void long_keys_are_shown_in_part(void **state)
{
    char key[200];
    struct key_set *set = create(1000);
    memset(key, 'x', sizeof key);
    assert_int_equal(key_set_add(set, key, sizeof key), 0);
    assert_int_equal(key_set_add(set, key, sizeof key), 0);
    key_set_finish(set);
    assert_int_equal(set->top[0].len, 200);
    assert_memory_equal(set->top[0].text, key, KEY_SHOWN_MAX);
    key_set_destroy(&set);
}

static void generated_keys_depend_on_the_seed_alone(void **state)
{
    struct key_set *sets[3];
    for (size_t i = 0; i < 3; i++) {
        sets[i] = create(100000);
        assert_int_equal(key_set_generate(sets[i], 20000, 0.9, 7 + i / 2, NULL), 0);
        key_set_finish(sets[i]);
    }
    assert_int_equal(sets[0]->count, sets[1]->count);
    assert_memory_equal(sets[0]->hashes, sets[1]->hashes, sets[0]->count * sizeof(uint64_t));
    assert_memory_equal(sets[0]->counts, sets[1]->counts, sets[0]->count * sizeof(uint32_t));
    assert_int_not_equal(sets[0]->top[0].hash, sets[2]->top[0].hash);
    for (size_t i = 0; i < 3; i++)
        key_set_destroy(&sets[i]);
    sets[0] = create(100000);
    assert_int_equal(key_set_generate(sets[0], 20000, 0, 1, NULL), 0);
    assert_int_equal(sets[0]->count, 20000);
    key_set_destroy(&sets[0]);
}

/* The ranks' frequencies by definition, beside those that were drawn. */
static void expect_zipf(double exponent)
{
    enum { DRAWS = 400000 };
    struct key_set *set = create(1000000);
    double sum = 0;
    for (int i = 1; i <= DRAWS; i++)
        sum += pow(i, -exponent);
    assert_int_equal(key_set_generate(set, DRAWS, exponent, 3, NULL), 0);
    key_set_finish(set);
    for (int i = 0; i < 5; i++) {
        double want = pow(i + 1, -exponent) / sum * DRAWS;
        double off = fabs(set->top[i].count - want);
        if (off > 5 * sqrt(want))
            fail_msg("exponent %g, rank %d: %u drawn, %.0f wanted", exponent, i + 1,
                     set->top[i].count, want);
    }
    key_set_destroy(&set);
}

static void draws_follow_zipfs_law(void **state)
{
    expect_zipf(0.8);
    expect_zipf(1.0);
    expect_zipf(1.2);
    expect_zipf(2.5);
}

static void keys_come_from_a_file(void **state)
{
    char path[] = "/tmp/clockwise-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    unlink(path);
    assert_int_equal(write(file, "a\nb\na\n\n", 7), 7);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    struct key_set *set = create(1000);
    assert_int_equal(key_set_read(set, file, '\n', NULL), 0);
    key_set_finish(set);
    assert_int_equal(set->count, 3);
    assert_int_equal(set->lines, 4);
    assert_memory_equal(set->top[0].text, "a", 1);
    key_set_destroy(&set);
    close(file);
    set = create(1000);
    assert_int_equal(key_set_read(set, file, '\n', NULL), -EBADF);
    key_set_destroy(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_keys_are_found_and_the_first_are_named),
        cmocka_unit_test(keys_that_come_once_have_no_first),
        cmocka_unit_test(keys_with_one_hash_tag_are_one),
        cmocka_unit_test(more_keys_than_fit_are_sampled_with_all_their_lines),
        cmocka_unit_test(long_keys_are_shown_in_part),
        cmocka_unit_test(generated_keys_depend_on_the_seed_alone),
        cmocka_unit_test(draws_follow_zipfs_law),
        cmocka_unit_test(keys_come_from_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
