/*
 * Transactions for which memory runs out: each is answered with an error or done as a whole, and
 * what was begun of it is taken back (the address sanitizer looks for the rest). The linker has
 * calloc() replaced here; it fails for what the router makes for a transaction, known by its size.
 *
 * covers: transaction, exec, watch
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "router/own_link.h"
#include "router/transaction.h"
#include "router/transaction_world.h"

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static long left = -1; /* before one fails; below 0: never */
static uint32_t failures;

static bool is_the_routers(size_t size)
{
    return size == sizeof(struct transaction) || size == sizeof(struct request) ||
           size == sizeof(struct own_link);
}

void *__wrap_calloc(size_t count, size_t size)
{
    if (count != 1 || !is_the_routers(size) || left < 0 || left-- > 0)
        return __real_calloc(count, size);
    failures++;
    return NULL;
}

/* Both keys have the same value whenever all of a transaction is done or nothing. */
static void check_whole(struct transactions *world, const char *answer)
{
    const char *values = text_ask(world->b, "MGET {x}1 {x}2\r\n");
    if (strstr(answer, "*2\r\n:1\r\n:1\r\n"))
        assert_string_equal(values, "*2\r\n$1\r\n1\r\n$1\r\n1\r\n");
    else
        assert_string_equal(values, "*2\r\n$-1\r\n$-1\r\n");
}

static void say_without_memory(const char *said, const char *other, long after)
{
    struct transactions world;
    transactions_begin(&world);
    left = after;
    failures = 0;
    char *answer = strdup(text_ask(world.a, said));
    assert_non_null(answer);
    bool has_failed = failures > 0;
    left = -1;
    check_whole(&world, answer);
    if (has_failed)
        assert_true(strstr(answer, "-ERR out of memory\r\n") || strlen(answer) < strlen(other));
    else
        assert_string_equal(answer, other);
    /* The connections are as before: nothing is open there, and nothing watched. */
    assert_string_equal(text_ask(world.b, "DEL {x}1 {x}2\r\nWATCH {x}3\r\n"
                                          "MULTI\r\nINCR {x}1\r\nEXEC\r\n") +
                            4,
                        "+OK\r\n+OK\r\n+QUEUED\r\n*1\r\n:1\r\n");
    free(answer);
    transactions_end(&world);
}

static void a_transaction_is_whole_or_refused(void **state)
{
    for (long after = 0; after < 12; after++)
        say_without_memory("MULTI\r\nINCR {x}1\r\nINCR {x}2\r\nEXEC\r\n",
                           "+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n:1\r\n", after);
}

static void so_is_one_that_watches(void **state)
{
    for (long after = 0; after < 12; after++)
        say_without_memory("WATCH {x}1\r\nMULTI\r\nINCR {x}1\r\nINCR {x}2\r\nEXEC\r\n",
                           "+OK\r\n+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n:1\r\n:1\r\n", after);
}

static void an_unwatch_for_which_there_is_none_costs_the_connection(void **state)
{
    for (long after = 0; after < 6; after++)
        say_without_memory("WATCH {x}1\r\nUNWATCH\r\nEXISTS {x}1\r\n", "+OK\r\n+OK\r\n:0\r\n",
                           after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transaction_is_whole_or_refused),
        cmocka_unit_test(so_is_one_that_watches),
        cmocka_unit_test(an_unwatch_for_which_there_is_none_costs_the_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
