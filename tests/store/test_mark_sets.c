/* The dirty sets of a node: what they hold, their bounds, and that what is undone was never done.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/random.h"
#include "store/mark_sets.h"

#define NAME(text) ((struct slice){"\0cw:" text, sizeof "\0cw:" text - 1})

static struct slice member_of(int number)
{
    static char text[4][16];
    static int turn;
    char *to = text[turn++ % 4];
    return (struct slice){to, (size_t)snprintf(to, sizeof text[0], "key%d", number)};
}

static int number_of(struct slice member)
{
    int number = 0;
    assert_true(member.len > 3 && memcmp(member.ptr, "key", 3) == 0);
    for (size_t i = 3; i < member.len; i++)
        number = number * 10 + (member.ptr[i] - '0');
    return number;
}

static void add_many(struct marks *marks, struct slice name, int from, int to)
{
    for (int i = from; i < to; i++)
        assert_int_equal(marks_add(marks, name, member_of(i)), 1);
}

static void only_names_of_our_own_are_names(void **state)
{
    assert_true(marks_is_name(NAME("dirty:1:1")));
    assert_true(marks_is_name((struct slice){"\0cw:", 4}));
    assert_false(marks_is_name((struct slice){"\0cw", 3}));
    assert_false(marks_is_name((struct slice){"cw:dirty", 8}));
    assert_false(marks_is_name((struct slice){"", 0}));
}

static void each_mark_is_kept_once_and_popped_once(void **state)
{
    enum { COUNT = 20000 };
    struct marks marks = {0};
    static uint8_t popped[COUNT];
    struct slice member;
    add_many(&marks, NAME("a"), 0, COUNT);
    assert_int_equal(marks_add(&marks, NAME("a"), member_of(7)), 0);
    assert_int_equal(marks_add(&marks, NAME("b"), member_of(7)), 1);
    struct mark_set *set = marks_find(&marks, NAME("a"));
    assert_int_equal(mark_set_count(set), COUNT);
    assert_true(mark_set_has(set, member_of(COUNT - 1)));
    assert_false(mark_set_has(set, member_of(COUNT)));
    assert_true(marks_remove(&marks, set, member_of(5)));
    assert_false(marks_remove(&marks, set, member_of(5)));
    memset(popped, 0, sizeof popped);
    while (marks_pop(&marks, set, SIZE_MAX, &member)) {
        int number = number_of(member);
        assert_int_equal(popped[number]++, 0);
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(popped[i], i != 5);
    assert_null(marks_find(&marks, NAME("a"))); /* an empty set is none */
    marks_keep(&marks);
    assert_int_equal(marks.count, 1);
    assert_int_equal(marks.set_count, 1);
    marks_release(&marks);
}

static void bounds_are_kept_and_nothing_is_half_added(void **state)
{
    struct marks marks = {.count_max = 10};
    add_many(&marks, NAME("a"), 0, 10);
    assert_int_equal(marks_add(&marks, NAME("b"), member_of(0)), -1);
    assert_int_equal(marks_add(&marks, NAME("a"), member_of(3)), 0);
    assert_null(marks_find(&marks, NAME("b")));
    assert_true(marks_remove(&marks, marks_find(&marks, NAME("a")), member_of(0)));
    assert_int_equal(marks_add(&marks, NAME("b"), member_of(0)), 1);
    marks_release(&marks);
    marks = (struct marks){.bytes_max = 1000};
    char large[2000] = "";
    assert_int_equal(marks_add(&marks, NAME("a"), (struct slice){large, sizeof large}), -1);
    assert_int_equal(marks_add(&marks, NAME("a"), (struct slice){large, 500}), 1);
    assert_true(marks.bytes >= 500 && marks.bytes <= 1000);
    marks_release(&marks);
    char name[16];
    for (int i = 0; i < MARKS_SETS_MAX; i++) {
        int len = snprintf(name, sizeof name, "%ccw:%d", 0, i);
        assert_int_equal(marks_add(&marks, (struct slice){name, (size_t)len}, member_of(1)), 1);
    }
    assert_int_equal(marks_add(&marks, NAME("one more"), member_of(1)), -1);
    marks_release(&marks);
}

static void a_member_that_is_too_long_is_not_popped(void **state)
{
    struct marks marks = {0};
    struct slice member;
    add_many(&marks, NAME("a"), 0, 1);
    struct mark_set *set = marks_find(&marks, NAME("a"));
    assert_false(marks_pop(&marks, set, 3, &member));
    assert_int_equal(mark_set_count(set), 1);
    assert_true(marks_pop(&marks, set, 4, &member));
    marks_release(&marks);
}

static void what_is_undone_was_never_done(void **state)
{
    struct marks marks = {0};
    struct slice member;
    add_many(&marks, NAME("a"), 0, 100);
    add_many(&marks, NAME("b"), 0, 100);
    marks_keep(&marks);
    uint64_t bytes = marks.bytes;
    struct mark_set *set = marks_find(&marks, NAME("a"));
    add_many(&marks, NAME("a"), 100, 5000);
    while (marks_pop(&marks, set, SIZE_MAX, &member))
        continue;
    add_many(&marks, NAME("a"), 50, 60);
    assert_true(marks_drop(&marks, NAME("b")));
    add_many(&marks, NAME("b"), 1000, 1010);
    add_many(&marks, NAME("new"), 0, 10);
    assert_true(marks_drop_all(&marks));
    assert_int_equal(marks.count, 0);
    add_many(&marks, NAME("a"), 0, 3);
    marks_undo(&marks);
    assert_int_equal(marks.count, 200);
    assert_int_equal(marks.bytes, bytes);
    assert_null(marks_find(&marks, NAME("new")));
    for (int i = 0; i < 100; i++) {
        assert_true(mark_set_has(marks_find(&marks, NAME("a")), member_of(i)));
        assert_true(mark_set_has(marks_find(&marks, NAME("b")), member_of(i)));
    }
    marks_release(&marks);
}

/* Against a table of truth: sets of 64 members, at random, kept and undone at random. */
static void random_steps_agree_with_a_simple_model(void **state)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct random random = {seed};
        struct marks marks = {0};
        uint64_t model = 0, kept = 0;
        for (int step = 0; step < 300; step++) {
            int number = (int)random_below(&random, 64);
            uint64_t bit = (uint64_t)1 << number;
            struct mark_set *set = marks_find(&marks, NAME("a"));
            struct slice member;
            switch (random_below(&random, 8)) {
            case 0: marks_keep(&marks), kept = model; break;
            case 1: marks_undo(&marks), model = kept; break;
            case 2: marks_drop(&marks, NAME("a")), model = 0; break;
            case 3:
                if (marks_pop(&marks, set, SIZE_MAX, &member))
                    model &= ~((uint64_t)1 << number_of(member));
                break;
            case 4:
                assert_int_equal(marks_remove(&marks, set, member_of(number)), (model & bit) != 0);
                model &= ~bit;
                break;
            default:
                assert_int_equal(marks_add(&marks, NAME("a"), member_of(number)), !(model & bit));
                model |= bit;
            }
            set = marks_find(&marks, NAME("a"));
            if (mark_set_count(set) != (uint64_t)__builtin_popcountll(model) ||
                marks.count != mark_set_count(set) ||
                mark_set_has(set, member_of(number)) != ((model & bit) != 0))
                fail_msg("seed %llu, step %d", (unsigned long long)seed, step);
        }
        marks_release(&marks);
    }
}

static void a_large_set_is_freed_in_pieces(void **state)
{
    struct marks marks = {0};
    add_many(&marks, NAME("a"), 0, 10000);
    marks_keep(&marks);
    assert_true(marks_drop(&marks, NAME("a")));
    assert_int_equal(marks.bytes, 0);
    int keeps = 0;
    do
        marks_keep(&marks);
    while (++keeps < 1000 && marks.dropped);
    assert_in_range(keeps, 8, 64);
    marks_release(&marks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_names_of_our_own_are_names),
        cmocka_unit_test(each_mark_is_kept_once_and_popped_once),
        cmocka_unit_test(bounds_are_kept_and_nothing_is_half_added),
        cmocka_unit_test(a_member_that_is_too_long_is_not_popped),
        cmocka_unit_test(what_is_undone_was_never_done),
        cmocka_unit_test(random_steps_agree_with_a_simple_model),
        cmocka_unit_test(a_large_set_is_freed_in_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
