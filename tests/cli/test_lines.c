#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/lines.h"

static struct line lines[LINES_BATCH_MAX];

/* A file with this text; its name is gone at once. */
static int open_text(const char *text, size_t len)
{
    char path[] = "/tmp/clockwise-test-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    unlink(path);
    assert_int_equal(write(file, text, len), len);
    assert_int_equal(lseek(file, 0, SEEK_SET), 0);
    return file;
}

static void expect(const char *text, size_t len, char delimiter, const char *want)
{
    struct line_reader reader;
    char got[1024] = "";
    int count, file = open_text(text, len);
    lines_open(&reader, file, delimiter);
    while ((count = lines_next(&reader, lines)) > 0)
        for (int i = 0; i < count; i++)
            snprintf(got + strlen(got), sizeof got - strlen(got), "<%.*s>", (int)lines[i].len,
                     lines[i].text);
    assert_int_equal(count, 0);
    assert_string_equal(got, want);
    lines_close(&reader);
    close(file);
}

static void lines_end_with_a_newline_or_with_the_file(void **state)
{
    expect("", 0, '\n', "");
    expect("a", 1, '\n', "<a>");
    expect("a\n", 2, '\n', "<a>");
    expect("a\n\nb c\r\n", 8, '\n', "<a><><b c\r>");
    expect("\n", 1, '\n', "<>");
    expect("a\nb\0c", 5, 0, "<a\nb><c>");
}

static void a_pipe_is_answered_line_by_line(void **state)
{
    int ends[2];
    struct line_reader reader;
    assert_int_equal(pipe(ends), 0);
    lines_open(&reader, ends[0], '\n');
    assert_int_equal(write(ends[1], "one\ntw", 6), 6);
    assert_int_equal(lines_next(&reader, lines), 1);
    assert_memory_equal(lines[0].text, "one", 3);
    assert_int_equal(write(ends[1], "o\n", 2), 2);
    assert_int_equal(lines_next(&reader, lines), 1);
    assert_int_equal(lines[0].len, 3);
    assert_memory_equal(lines[0].text, "two", 3);
    close(ends[1]);
    assert_int_equal(lines_next(&reader, lines), 0);
    lines_close(&reader);
    close(ends[0]);
}

static void many_lines_come_in_batches_and_none_is_lost(void **state)
{
    enum { COUNT = 100000 };
    char *text = malloc(COUNT * 8);
    size_t len = 0, seen = 0;
    assert_non_null(text);
    for (int i = 0; i < COUNT; i++)
        len += (size_t)snprintf(text + len, 8, "%d\n", i);
    int count, file = open_text(text, len);
    struct line_reader reader;
    lines_open(&reader, file, '\n');
    while ((count = lines_next(&reader, lines)) > 0)
        for (int i = 0; i < count; i++, seen++)
            assert_int_equal(strtoul(lines[i].text, NULL, 10), seen);
    assert_int_equal(seen, COUNT);
    assert_int_equal(reader.line_count, COUNT);
    lines_close(&reader);
    close(file);
    free(text);
}

static void a_long_line_is_taken_and_a_too_long_one_is_not(void **state)
{
    char *text = malloc(LINE_LEN_MAX + 2);
    assert_non_null(text);
    memset(text, 'x', LINE_LEN_MAX + 2);
    text[10 << 20] = '\n';
    struct line_reader reader;
    int file = open_text(text, (10 << 20) + 1);
    lines_open(&reader, file, '\n');
    assert_int_equal(lines_next(&reader, lines), 1);
    assert_int_equal(lines[0].len, 10 << 20);
    lines_close(&reader);
    close(file);
    text[10 << 20] = 'x';
    file = open_text(text, LINE_LEN_MAX + 2);
    lines_open(&reader, file, '\n');
    assert_int_equal(lines_next(&reader, lines), -EMSGSIZE);
    lines_close(&reader);
    close(file);
    free(text);
}

static void a_folder_is_an_error(void **state)
{
    struct line_reader reader;
    FILE *folder = fopen("/tmp", "r");
    assert_non_null(folder);
    lines_open(&reader, fileno(folder), '\n');
    assert_int_equal(lines_next(&reader, lines), -EISDIR);
    lines_close(&reader);
    fclose(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_with_a_newline_or_with_the_file),
        cmocka_unit_test(a_pipe_is_answered_line_by_line),
        cmocka_unit_test(many_lines_come_in_batches_and_none_is_lost),
        cmocka_unit_test(a_long_line_is_taken_and_a_too_long_one_is_not),
        cmocka_unit_test(a_folder_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
