/* The record's form: what goes in comes out, and damage is seen. */
#include "store/dir_rig.h"
#include "store/record.h"

static const struct record example = {
    .hlc = 0x18c0ffee00010002,
    .writer = 7,
    .sequence = 0xabcdef,
    .expire_ms = 1700000000123,
    .value = {"hello\0world", 11},
};

static void assert_same(const struct record *a, const struct record *b)
{
    assert_int_equal(a->hlc, b->hlc);
    assert_int_equal(a->writer, b->writer);
    assert_int_equal(a->sequence, b->sequence);
    assert_int_equal(a->flags, b->flags);
    assert_int_equal(a->expire_ms, b->expire_ms);
    assert_int_equal(a->key.len, b->key.len);
    assert_memory_equal(a->key.ptr, b->key.ptr, a->key.len);
    assert_int_equal(a->value.len, b->value.len);
    assert_memory_equal(a->value.ptr, b->value.ptr, a->value.len);
}

static void assert_round_trip(const struct record *record)
{
    char bytes[256];
    struct record back;
    size_t len = record_len(record);
    assert_true(len <= sizeof bytes);
    record_encode(record, bytes);
    assert_null(record_decode(bytes, len, &back));
    assert_same(record, &back);
}

static void a_record_comes_back_as_it_went_in(void **state)
{
    assert_round_trip(&example);
}

static void an_empty_value_and_no_expiry_are_fine(void **state)
{
    const struct record record = {.hlc = 1, .value = {"", 0}, .key = {"", 0}};
    assert_round_trip(&record);
    assert_int_equal(record_len(&record), RECORD_HEADER_LEN);
}

static void a_long_key_stands_between_header_and_value(void **state)
{
    struct record record = example;
    record.flags = RECORD_HAS_KEY;
    record.key = text_slice("the whole key");
    assert_round_trip(&record);
    record.value = (struct slice){"", 0};
    assert_round_trip(&record);
}

static void the_header_is_big_endian_and_in_the_agreed_order(void **state)
{
    static const unsigned char header[24] = {
        0x18, 0xc0, 0xff, 0xee, 0,    1,    0,    2,
        0,    0,    0,    7,    0xab, 0xcd, 0xef, 0,    /* version, flags */
        0,    0,    0x01, 0x8b, 0xcf, 0xe5, 0x68, 0x7b, /* expire_ms */
    };
    char bytes[64];
    record_encode(&example, bytes);
    assert_memory_equal(bytes, header, sizeof header);
    assert_memory_equal(bytes + RECORD_HEADER_LEN, "hello\0world", 11);
}

static void every_changed_bit_is_seen(void **state)
{
    char bytes[64];
    struct record back;
    size_t len = record_len(&example);
    record_encode(&example, bytes);
    for (size_t bit = 0; bit < len * 8; bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        if (!record_decode(bytes, len, &back))
            fail_msg("bit %zu is changed, and nobody says so", bit);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_null(record_decode(bytes, len, &back));
}

static void every_cut_is_seen(void **state)
{
    char bytes[64];
    struct record back;
    record_encode(&example, bytes);
    for (size_t len = 0; len < record_len(&example); len++)
        if (!record_decode(bytes, len, &back))
            fail_msg("cut to %zu bytes, and nobody says so", len);
}

/* Sums up again after a change, as another version of the program would. */
static const char *decode_with_flags(uint32_t flags, size_t len)
{
    char bytes[64];
    struct record back;
    record_encode(&example, bytes);
    bytes[15] = (char)flags;
    uint64_t sum = __builtin_bswap64(record_sum(bytes, len));
    memcpy(bytes + 24, &sum, sizeof sum);
    return record_decode(bytes, len, &back);
}

static void flags_of_a_later_version_are_refused(void **state)
{
    assert_string_equal(decode_with_flags(0x80, 43), "flags that this version does not know");
}

static void a_deletion_with_a_value_is_refused(void **state)
{
    assert_string_equal(decode_with_flags(RECORD_TOMBSTONE, 43), "a deletion with a value");
    assert_null(decode_with_flags(RECORD_TOMBSTONE, 32));
}

static void a_key_that_runs_past_the_end_is_refused(void **state)
{
    assert_string_equal(decode_with_flags(RECORD_HAS_KEY, 43), "its key is cut off");
    assert_string_equal(decode_with_flags(RECORD_HAS_KEY, 34), "its key is cut off");
}

static void a_record_lives_through_its_last_millisecond(void **state)
{
    struct record record = {.expire_ms = 1000};
    assert_false(record_is_expired(&record, 1000));
    assert_true(record_is_expired(&record, 1001));
    record.expire_ms = 0;
    assert_false(record_is_expired(&record, UINT64_MAX));
}

static void the_clock_never_repeats_and_never_lags(void **state)
{
    assert_int_equal(hlc_next(0, 5), 5 << 16);
    assert_int_equal(hlc_next(5 << 16, 5), (5 << 16) + 1);
    assert_int_equal(hlc_next(9 << 16, 5), (9 << 16) + 1);
    assert_int_equal(hlc_next((5 << 16) + 3, 6), 6 << 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_comes_back_as_it_went_in),
        cmocka_unit_test(an_empty_value_and_no_expiry_are_fine),
        cmocka_unit_test(a_long_key_stands_between_header_and_value),
        cmocka_unit_test(the_header_is_big_endian_and_in_the_agreed_order),
        cmocka_unit_test(every_changed_bit_is_seen),
        cmocka_unit_test(every_cut_is_seen),
        cmocka_unit_test(flags_of_a_later_version_are_refused),
        cmocka_unit_test(a_deletion_with_a_value_is_refused),
        cmocka_unit_test(a_key_that_runs_past_the_end_is_refused),
        cmocka_unit_test(a_record_lives_through_its_last_millisecond),
        cmocka_unit_test(the_clock_never_repeats_and_never_lags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
