/* A broken assertion says where and what, and ends the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"

static void a_broken_assertion_says_where_and_what_and_aborts(void **state)
{
    int ends[2], status;
    char text[1024] = "";
    size_t len = 0;
    ssize_t got;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        CW_ASSERT(child == 4711);
        _exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], text + len, sizeof text - 1 - len)) > 0)
        len += (size_t)got;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, "test_assert.c:"));
    assert_non_null(strstr(text, "assertion failed: child == 4711"));
}

static void an_assertion_that_holds_costs_nothing_but_its_condition(void **state)
{
    int evaluated = 0;
    CW_ASSERT(++evaluated == 1);
    assert_int_equal(evaluated, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_assertion_says_where_and_what_and_aborts),
        cmocka_unit_test(an_assertion_that_holds_costs_nothing_but_its_condition),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
