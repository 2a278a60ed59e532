/* Percentiles within their bound, merging, and the edges of the range. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/histogram.h"
#include "base/random.h"

static void every_value_falls_into_the_bucket_that_ends_at_or_above_it(void **state)
{
    struct random random = {1};
    for (int i = 0; i < 100000; i++) {
        uint64_t value = random_next(&random) >> random_below(&random, 64);
        uint32_t bucket = histogram_bucket(value);
        assert_true(bucket < HISTOGRAM_BUCKETS);
        assert_true(histogram_bucket_limit(bucket) >= value);
        if (bucket > 0)
            assert_true(histogram_bucket_limit(bucket - 1) < value);
    }
    assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
    assert_true(histogram_bucket_limit(HISTOGRAM_BUCKETS - 1) == UINT64_MAX);
}

static void percentiles_are_within_a_sixteenth(void **state)
{
    static struct histogram histogram;
    for (uint64_t value = 1; value <= 100000; value++)
        histogram_record(&histogram, value);
    const double parts[] = {0.01, 0.5, 0.9, 0.99, 0.999};
    for (int i = 0; i < 5; i++) {
        double got = (double)histogram_percentile(&histogram, parts[i]);
        assert_true(got >= parts[i] * 100000 * 0.999 && got <= parts[i] * 100000 * (1 + 1.0 / 16));
    }
    assert_int_equal(histogram_percentile(&histogram, 1), 100000);
    assert_int_equal(histogram.count, 100000);
}

static void an_empty_histogram_has_percentile_zero(void **state)
{
    static struct histogram empty;
    assert_int_equal(histogram_percentile(&empty, 0.99), 0);
}

static void merging_adds(void **state)
{
    static struct histogram one, two;
    histogram_record(&one, 10);
    histogram_record(&two, 1000);
    histogram_merge(&one, &two);
    assert_int_equal(one.count, 2);
    assert_int_equal(one.sum, 1010);
    assert_int_equal(histogram_percentile(&one, 1), 1000);
    assert_int_equal(histogram_percentile(&one, 0.5), 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_falls_into_the_bucket_that_ends_at_or_above_it),
        cmocka_unit_test(percentiles_are_within_a_sixteenth),
        cmocka_unit_test(an_empty_histogram_has_percentile_zero),
        cmocka_unit_test(merging_adds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
