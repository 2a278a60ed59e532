/*
 * Memory that runs out at any call, key or job ends the job with a reason and leaks nothing (the
 * address sanitizer looks). The linker has these three functions replaced here.
 *
 * covers: move/job, move/copier, move/copy, move/drain, move/drain_elements, move/purge
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "move/move_world.h"

bool __real_peer_call(struct peer *peer, const struct slice *args, size_t arg_count,
                      peer_reply callback, void *context);
bool __wrap_peer_call(struct peer *peer, const struct slice *args, size_t arg_count,
                      peer_reply callback, void *context);
bool __real_key_list_add(struct key_list *list, struct slice key);
bool __wrap_key_list_add(struct key_list *list, struct slice key);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

static long left = -1;   /* before one fails; below 0: never */
static bool is_starting; /* only then calloc() is a job's */

static bool fails_now(void)
{
    return left >= 0 && left-- == 0;
}

bool __wrap_peer_call(struct peer *peer, const struct slice *args, size_t arg_count,
                      peer_reply callback, void *context)
{
    return !fails_now() && __real_peer_call(peer, args, arg_count, callback, context);
}

bool __wrap_key_list_add(struct key_list *list, struct slice key)
{
    return !fails_now() && __real_key_list_add(list, key);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return is_starting && fails_now() ? NULL : __real_calloc(count, size);
}

/* ---- jobs -------------------------------------------------------------------------------------
 */

static const struct slice set = {"marks", 5};

static struct job *start_copy(struct world *world)
{
    return job_copy(&world->move, 0, world_on_done, world);
}

static struct job *start_open_set(struct world *world)
{
    return job_open_set(&world->move, 0, set, world_on_done, world);
}

static struct job *start_drain(struct world *world)
{
    return job_drain(&world->move, 0, set, &world->drained, world_on_done, world);
}

static struct job *start_purge(struct world *world)
{
    return job_purge(&world->move, PURGE_LEFT, 0, false, world_on_done, world);
}

/* Keys of each kind that a job treats in another way. */
static void fill(struct world *world)
{
    char key[64], start[16];
    static const struct slice ping = {"PING", 4};
    left = -1;
    for (uint32_t i = 0; i < WORLD_NODES; i++) /* connections take memory too, which is not ours */
        assert_true(peer_call(world->peers[i], &ping, 1, NULL, NULL));
    for (int i = 0; i < 5; i++) {
        snprintf(start, sizeof start, "k%d-", i);
        world_name(world, start, key);
        if (i < 4)
            world_do(world, 0, "HSET %s f v", key);
        world_do(world, 0, "SADD marks s k%s", key);
    }
    char *value = calloc(1, MOVE_BIG_BYTES + 1);
    memory_set(world->nodes[0], world_key(world_name(world, "long", key)),
               (struct slice){value, MOVE_BIG_BYTES + 1});
    free(value);
    world_name(world, "hash", key);
    struct slice known = world_key(key);
    assert_int_equal(big_keys_create(NULL, &known, 1, &world->move.big), 0);
    world_do(world, 0, "HSET %s f v", key);
    char mark[80] = {'e', 0, 0, 0, (char)strlen(key)};
    for (char element = 'f'; element <= 'g'; element++) { /* one that is there, one that is not */
        int len = 5 + snprintf(mark + 5, sizeof mark - 5, "%s%c", key, element);
        struct slice args[] = {{"SADD", 4}, set, {mark, (size_t)len}};
        world_call(world, 0, args, 3);
    }
}

/* Fails at the first, the second, ... until nothing fails any more. */
static void fail_everywhere(struct job *(*start)(struct world *world), long failures_least)
{
    bool is_done = false;
    for (long at = 0; !is_done; at++) {
        struct world world;
        world_begin(&world, &world_calm);
        fill(&world);
        left = at;
        is_starting = true;
        struct job *job = start(&world);
        is_starting = false;
        if (job) {
            const struct job_end *end = world_run(&world, job);
            is_done = end->result == JOB_DONE;
            if (!is_done) {
                assert_true(end->result == JOB_FAILED || end->result == JOB_VOID);
                assert_non_null(strstr(end->problem, "no memory"));
            }
        }
        assert_int_equal(left >= 0, is_done);
        left = -1;
        if (is_done)
            assert_true(at >= failures_least);
        world_end(&world);
    }
}

static void test_a_copy_without_memory_fails(void **state)
{
    (void)state;
    fail_everywhere(start_copy, 30);
}

static void test_a_set_is_not_opened_without_memory(void **state)
{
    (void)state;
    fail_everywhere(start_open_set, 2);
}

static void test_a_drain_without_memory_fails(void **state)
{
    (void)state;
    fail_everywhere(start_drain, 40);
}

static void test_a_purge_without_memory_fails(void **state)
{
    (void)state;
    fail_everywhere(start_purge, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_copy_without_memory_fails),
        cmocka_unit_test(test_a_set_is_not_opened_without_memory),
        cmocka_unit_test(test_a_drain_without_memory_fails),
        cmocka_unit_test(test_a_purge_without_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
