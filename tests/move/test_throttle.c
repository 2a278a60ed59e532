/* covers: move/throttle */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "move/throttle.h"

/* Sends batches of `keys` keys and `bytes` bytes as fast as the throttle lets them go, and returns
 * how many were sent. */
static uint64_t send_for(struct throttle *throttle, uint64_t from_ms, uint64_t duration_ms,
                         uint64_t keys, uint64_t bytes)
{
    uint64_t sent = 0, now_ms = from_ms;
    while (now_ms < from_ms + duration_ms) {
        uint64_t wait_ms = throttle_wait_ms(throttle, now_ms);
        if (wait_ms == 0) {
            throttle_take(throttle, keys, bytes);
            sent++;
        }
        now_ms += wait_ms;
        if (sent > 1000000)
            return sent; /* no limit at all */
    }
    return sent;
}

static void test_keys_go_at_the_rate_that_was_set(void **state)
{
    (void)state;
    struct throttle throttle;
    struct throttle_settings settings = {.keys_per_second = 6400};
    throttle_init(&throttle, &settings, 5000);
    uint64_t batches = send_for(&throttle, 5000, 10000, 64, 1 << 20);
    assert_in_range(batches, 1000, 1020);
}

static void test_bytes_go_at_the_rate_that_was_set(void **state)
{
    (void)state;
    struct throttle throttle;
    struct throttle_settings settings = {.bytes_per_second = 1 << 20};
    throttle_init(&throttle, &settings, 0);
    assert_in_range(send_for(&throttle, 0, 100000, 64, 1 << 20), 99, 102);
}

static void test_two_that_share_a_rate_have_it_together(void **state)
{
    (void)state;
    struct throttle first, second, shared;
    struct throttle_settings all = {.keys_per_second = 6400}, none = {0};
    throttle_init(&shared, &all, 0);
    throttle_init(&first, &none, 0);
    throttle_init(&second, &none, 0);
    first.shared = second.shared = &shared;
    uint64_t batches = send_for(&first, 0, 5000, 64, 0) + send_for(&second, 5000, 5000, 64, 0);
    assert_in_range(batches, 1000, 1020);
    throttle_take(&first, 6400, 0);
    assert_true(throttle_wait_ms(&second, 10000) > 0);
}

static void test_without_limits_nothing_waits(void **state)
{
    (void)state;
    struct throttle throttle;
    struct throttle_settings settings = {0};
    throttle_init(&throttle, &settings, 0);
    assert_int_equal(send_for(&throttle, 0, 1, 64, 1 << 30), 1000001);
}

static void test_what_was_not_sent_for_a_day_does_not_come_at_once(void **state)
{
    (void)state;
    struct throttle throttle;
    struct throttle_settings settings = {.keys_per_second = 1000};
    throttle_init(&throttle, &settings, 0);
    send_for(&throttle, 0, 1000, 1, 0);
    assert_in_range(send_for(&throttle, 86400000, 1000, 1, 0), 1000, 1110);
    /* Nor does a clock that goes back or stands still give anything. */
    send_for(&throttle, 90000000, 1000, 1, 0);
    while (throttle_wait_ms(&throttle, 80000000) == 0)
        throttle_take(&throttle, 1, 0);
    assert_true(throttle_wait_ms(&throttle, 80000000) > 0);
}

static void test_no_wait_is_longer_than_a_tenth_of_a_second(void **state)
{
    (void)state;
    struct throttle throttle;
    struct throttle_settings settings = {.keys_per_second = 1};
    throttle_init(&throttle, &settings, 0);
    throttle_take(&throttle, 100000, 0);
    assert_int_equal(throttle_wait_ms(&throttle, 0), 100);
    throttle.is_paused = true;
    throttle.keys = 1000;
    assert_int_equal(throttle_wait_ms(&throttle, 0), 100);
    throttle.is_paused = false;
    throttle.keys = 1;
    assert_int_equal(throttle_wait_ms(&throttle, 0), 0);
}

static void test_a_faster_rate_counts_at_once(void **state)
{
    (void)state;
    struct throttle throttle;
    struct throttle_settings slow = {.keys_per_second = 1}, fast = {.keys_per_second = 10000};
    throttle_init(&throttle, &slow, 0);
    throttle_take(&throttle, 1000000, 0);
    throttle_set(&throttle, &fast);
    assert_in_range(throttle_wait_ms(&throttle, 0), 1, 2);
}

/* ---- automatic --------------------------------------------------------------------------------
 */

static const struct throttle_settings automatic = {
    .keys_per_second = 20000, .bytes_per_second = 100 << 20, .is_automatic = true};

static void begin_automatic(struct throttle *throttle)
{
    throttle_init(throttle, &automatic, 0);
    throttle->factor = 1; /* as after some seconds in which nobody was slower */
    throttle->before_p99_us = 2000;
    throttle->before_source_us = 1000;
}

static void test_it_begins_slowly(void **state)
{
    (void)state;
    struct throttle throttle;
    throttle_init(&throttle, &automatic, 0);
    double first = throttle.factor;
    assert_true(first <= 0.25);
    throttle_observe(&throttle, 500, 0, 0);
    assert_true(throttle.factor > first);
    for (uint64_t now_ms = 1000; now_ms < 10000; now_ms += 500)
        throttle_observe(&throttle, now_ms, 0, 0);
    assert_true(throttle.factor == 1);
}

static void test_slow_clients_halve_the_rate_once_a_period(void **state)
{
    (void)state;
    struct throttle throttle;
    begin_automatic(&throttle);
    throttle_observe(&throttle, 500, 50000, 1000);
    assert_true(throttle.factor == 0.5);
    throttle_observe(&throttle, 600, 50000, 1000);
    assert_true(throttle.factor == 0.5);
    throttle_observe(&throttle, 1000, 50000, 1000);
    assert_true(throttle.factor == 0.25);
    uint64_t batches = send_for(&throttle, 1000, 10000, 50, 0);
    assert_in_range(batches, 1000, 1100);
}

static void test_a_slow_source_halves_the_rate_too(void **state)
{
    (void)state;
    struct throttle throttle;
    begin_automatic(&throttle);
    throttle_observe(&throttle, 500, 2000, 100000);
    assert_true(throttle.factor == 0.5);
}

static void test_a_little_more_than_before_is_no_reason(void **state)
{
    (void)state;
    struct throttle throttle;
    begin_automatic(&throttle);
    for (uint64_t now_ms = 500; now_ms < 10000; now_ms += 500)
        throttle_observe(&throttle, now_ms, 3000, 1500);
    assert_true(throttle.factor == 1);
}

static void test_the_rate_comes_back_when_clients_are_served_well_again(void **state)
{
    (void)state;
    struct throttle throttle;
    begin_automatic(&throttle);
    uint64_t now_ms = 500;
    for (int i = 0; i < 3; i++, now_ms += 500)
        throttle_observe(&throttle, now_ms, 50000, 1000);
    double least = throttle.factor;
    throttle_observe(&throttle, now_ms, 2000, 1000);
    assert_true(throttle.factor > least && throttle.factor < 0.5); /* slowly */
    for (int i = 0; i < 30; i++)
        throttle_observe(&throttle, now_ms += 500, 2000, 1000);
    assert_true(throttle.factor == 1);
}

static void test_it_never_stands_still(void **state)
{
    (void)state;
    struct throttle throttle;
    begin_automatic(&throttle);
    uint64_t now_ms = 0;
    for (int i = 0; i < 1000; i++)
        throttle_observe(&throttle, now_ms += 500, 10000000, 10000000);
    assert_in_range(send_for(&throttle, now_ms, 10000, 10, 1000), 1000, 1100); /* 1000 keys/s */
    assert_in_range(send_for(&throttle, now_ms + 10000, 10000, 1, 1 << 20), 9, 12); /* 1 MB/s */
    /* A person's own limit below that counts. */
    struct throttle_settings slow = {.keys_per_second = 50, .is_automatic = true};
    throttle_set(&throttle, &slow);
    assert_in_range(send_for(&throttle, now_ms + 30000, 10000, 1, 0), 490, 520);
}

static void test_it_slows_down_what_has_no_limit(void **state)
{
    (void)state;
    struct throttle throttle;
    struct throttle_settings settings = {.is_automatic = true};
    throttle_init(&throttle, &settings, 0);
    throttle.before_p99_us = 1000;
    uint64_t before = send_for(&throttle, 0, 1000, 64, 100);
    for (uint64_t now_ms = 1500; now_ms < 10000; now_ms += 500)
        throttle_observe(&throttle, now_ms, 1000000, 0);
    assert_true(send_for(&throttle, 20000, 1000, 64, 100) < before / 10);
}

static void test_what_is_not_known_slows_nothing(void **state)
{
    (void)state;
    struct throttle throttle;
    throttle_init(&throttle, &automatic, 0);
    throttle.factor = 1;
    throttle_observe(&throttle, 500, 1000000, 1000000);
    assert_true(throttle.factor == 1);
    throttle.before_p99_us = 1000;
    throttle_observe(&throttle, 1000, 0, 0); /* no client asked anything */
    assert_true(throttle.factor == 1);
    /* Turning the automatic part off gives the whole rate back. */
    throttle_observe(&throttle, 1500, 1000000, 0);
    assert_true(throttle.factor == 0.5);
    throttle_set(&throttle, &(struct throttle_settings){.keys_per_second = 1000});
    assert_true(throttle.factor == 1);
    throttle_observe(&throttle, 2000, 1000000, 0);
    assert_true(throttle.factor == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_go_at_the_rate_that_was_set),
        cmocka_unit_test(test_bytes_go_at_the_rate_that_was_set),
        cmocka_unit_test(test_two_that_share_a_rate_have_it_together),
        cmocka_unit_test(test_without_limits_nothing_waits),
        cmocka_unit_test(test_what_was_not_sent_for_a_day_does_not_come_at_once),
        cmocka_unit_test(test_no_wait_is_longer_than_a_tenth_of_a_second),
        cmocka_unit_test(test_a_faster_rate_counts_at_once),
        cmocka_unit_test(test_it_begins_slowly),
        cmocka_unit_test(test_slow_clients_halve_the_rate_once_a_period),
        cmocka_unit_test(test_a_slow_source_halves_the_rate_too),
        cmocka_unit_test(test_a_little_more_than_before_is_no_reason),
        cmocka_unit_test(test_the_rate_comes_back_when_clients_are_served_well_again),
        cmocka_unit_test(test_it_never_stands_still),
        cmocka_unit_test(test_it_slows_down_what_has_no_limit),
        cmocka_unit_test(test_what_is_not_known_slows_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
