/*
 * covers: placement/error
 */
#include "placement/fleet.h"
#include "placement/error.h"

static void every_status_has_a_name_and_a_sentence(void **state)
{
#define CHECK_STATUS(name, number, text)                                                           \
    assert_string_equal(cw_status_name(CW_##name), "CW_" #name);                                   \
    assert_string_equal(cw_status_message(CW_##name), text);                                       \
    assert_int_equal(CW_##name, number);
    CW_STATUS_LIST(CHECK_STATUS)
#undef CHECK_STATUS
}

static void a_number_that_is_no_status_has_a_name_too(void **state)
{
    assert_string_equal(cw_status_name((enum cw_status) - 9999), "CW_UNKNOWN");
    assert_string_equal(cw_status_message((enum cw_status)1), "unknown status");
}

static void an_error_may_be_null(void **state)
{
    assert_int_equal(error_set(NULL, CW_EINVAL, "nobody reads %d", 1), CW_EINVAL);
    assert_int_equal(error_no_memory(NULL), CW_ENOMEM);
}

static void a_long_message_is_cut_not_overrun(void **state)
{
    struct cw_error error;
    error_set(&error, CW_EINVAL, "%0500d", 7);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_int_equal(error.line, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_name_and_a_sentence),
        cmocka_unit_test(a_number_that_is_no_status_has_a_name_too),
        cmocka_unit_test(an_error_may_be_null),
        cmocka_unit_test(a_long_message_is_cut_not_overrun),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
