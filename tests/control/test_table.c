#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "control/table.h"

static const char *const titles[] = {"NAME", ">COUNT", "NOTE", NULL};

static void expect(struct table *table, const char *want)
{
    struct buffer out = BUFFER_INIT;
    table_print(table, "", &out);
    buffer_append(&out, "", 1);
    assert_string_equal(buffer_bytes(&out), want);
    buffer_release(&out);
    table_release(table);
}

static void columns_are_aligned_and_numbers_at_their_right(void **state)
{
    struct table table;
    table_init(&table, titles, false);
    table_cell(&table, "a");
    table_cellf(&table, "%d", 12345);
    table_cell(&table, "x");
    table_cell(&table, "longer");
    table_cellf(&table, "%d", 7);
    table_cell(&table, "");
    expect(&table, "NAME    COUNT  NOTE\n"
                   "a       12345  x\n"
                   "longer      7\n");
}

static void width_is_what_is_seen_not_bytes(void **state)
{
    struct table table;
    table_init(&table, titles, false);
    table_cell(&table, "w\xc3\xb6rter");
    table_cell(&table, "1");
    table_cell(&table, "x");
    table_cell(&table, "\xe6\x97\xa5\xe6\x9c\xac");
    table_cell(&table, "2");
    table_cell(&table, "y");
    expect(&table, "NAME    COUNT  NOTE\n"
                   "w\xc3\xb6rter      1  x\n"
                   "\xe6\x97\xa5\xe6\x9c\xac        2  y\n");
}

static void cells_cannot_steer_a_terminal(void **state)
{
    struct table table;
    table_init(&table, titles, false);
    table_cell_bytes(&table, "\x1b[31m\0\xff", 7);
    table_cell(&table, "\xe2\x80\xae");
    table_cell(&table, "\n");
    expect(&table, "NAME                     COUNT  NOTE\n"
                   "\\x1b[31m\\x00\\xff  \\xe2\\x80\\xae  \\x0a\n");
}

static void colours_come_only_where_they_are_wanted(void **state)
{
    static const char *const title[] = {"A", NULL};
    struct table table;
    table_init(&table, title, true);
    table_cell_colored(&table, TABLE_RED, "x");
    expect(&table, "\033[1mA\033[0m\n\033[31mx\033[0m\n");
    table_init(&table, title, false);
    table_cell_colored(&table, TABLE_RED, "x");
    expect(&table, "A\nx\n");
}

static void half_a_row_is_not_shown(void **state)
{
    struct table table;
    table_init(&table, titles, false);
    table_cell(&table, "a");
    expect(&table, "NAME  COUNT  NOTE\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_aligned_and_numbers_at_their_right),
        cmocka_unit_test(width_is_what_is_seen_not_bytes),
        cmocka_unit_test(cells_cannot_steer_a_terminal),
        cmocka_unit_test(colours_come_only_where_they_are_wanted),
        cmocka_unit_test(half_a_row_is_not_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
