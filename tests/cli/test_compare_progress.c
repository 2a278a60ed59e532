#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/compare_progress.h"

static void a_terminal_gets_a_bar_that_goes(void **state)
{
    char seen[256] = "";
    ssize_t got;
    struct progress progress;
    int main_end = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(main_end >= 0 && grantpt(main_end) == 0 && unlockpt(main_end) == 0);
    int terminal = open(ptsname(main_end), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    setenv("TERM", "xterm", 1);
    progress_init(&progress, terminal);
    progress_show(&progress, "working", 1, 4);
    assert_false(progress.is_drawn); /* short work has none */
    progress.next_ns = 0;
    progress_show(&progress, "working", 1, 4);
    progress_show(&progress, "working", 2, 4); /* too soon */
    progress_clear(&progress);
    progress_clear(&progress);
    close(terminal);
    /* A terminal may give what was written in pieces; behind the last one it has an error. */
    for (size_t len = 0; (got = read(main_end, seen + len, sizeof seen - 1 - len)) > 0;)
        len += (size_t)got;
    assert_string_equal(
        seen, "\r\033[Kworking                  [#######.......................]  25 %\r\033[K");
    close(main_end);
}

static void a_pipe_gets_nothing(void **state)
{
    struct progress progress;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    progress_init(&progress, ends[1]);
    progress.next_ns = 0;
    progress_show(&progress, "working", 1, 4);
    progress_clear(&progress);
    close(ends[1]);
    char byte;
    assert_int_equal(read(ends[0], &byte, 1), 0);
    close(ends[0]);
    progress_show(NULL, "working", 1, 4);
    progress_clear(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_gets_a_bar_that_goes),
        cmocka_unit_test(a_pipe_gets_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
