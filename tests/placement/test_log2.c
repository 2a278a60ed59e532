#include "placement/fleet.h"
#include "placement/log2.h"

/* Floating point is for the test only: long double has 64 bits, more than the table's 40. */
static long double log2_exactly(long double x)
{
    long double exponent = 0, digit = 1;
    while (x < 1) {
        x *= 2;
        exponent -= 1;
    }
    while (x >= 2) {
        x /= 2;
        exponent += 1;
    }
    for (int i = 0; i < 60; i++) {
        x *= x;
        digit /= 2;
        if (x >= 2) {
            x /= 2;
            exponent += digit;
        }
    }
    return exponent;
}

static void the_table_is_the_logarithm_rounded(void **state)
{
    for (int i = 0; i < 258; i++) {
        long double exact = log2_exactly(1 + i / 256.0L) * (long double)LOG2_ONE;
        long double error = (long double)log2_table[i] - exact;
        check(error <= 0.51L && error >= -0.51L, "entry %d is %Lg units off", i, error);
    }
}

static void the_logarithm_is_close_everywhere(void **state)
{
    for (uint64_t draw = 0; draw < (uint64_t)1 << 32; draw += 1 + (draw >> 12)) {
        long double exact = -log2_exactly(((long double)draw + 0.5L) / 4294967296.0L);
        long double got = (long double)log2_negative((uint32_t)draw) / (long double)LOG2_ONE;
        long double error = got - exact;
        check(error < 2e-8L && error > -2e-8L, "draw %llu: %Lg instead of %Lg",
              (unsigned long long)draw, got, exact);
    }
}

static void the_logarithm_falls_strictly(void **state)
{
    uint64_t before = UINT64_MAX;
    for (uint64_t draw = 0; draw < (uint64_t)1 << 32; draw += 1 + (draw >> 14)) {
        uint64_t now = log2_negative((uint32_t)draw);
        check(now < before, "draw %llu", (unsigned long long)draw);
        before = now;
    }
    for (uint32_t draw = 0xffff0000u; draw < UINT32_MAX; draw++)
        check(log2_negative(draw) > log2_negative(draw + 1), "draw %u", draw);
    assert_true(log2_negative(UINT32_MAX) > 0);
    assert_true(log2_negative(0) == 33 * LOG2_ONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_the_logarithm_rounded),
        cmocka_unit_test(the_logarithm_is_close_everywhere),
        cmocka_unit_test(the_logarithm_falls_strictly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
