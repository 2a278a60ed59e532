/* The thread that syncs: asked once, it syncs once; it counts failures; it ends with its work. */
#include <errno.h>
#include <semaphore.h>

#include "store/dir_rig.h"
#include "store/sync_thread.h"

/* A store that only counts; each sync waits until the test lets it go. */
struct counting_store {
    struct store base;
    sem_t begun, go_on;
    int error;
};

static int counting_sync(struct store *base)
{
    struct counting_store *store = (struct counting_store *)base;
    sem_post(&store->begun);
    sem_wait(&store->go_on);
    return store->error;
}

static const struct store_ops counting_ops = {.sync = counting_sync};

static void counting_init(struct counting_store *store, int error)
{
    *store = (struct counting_store){.base.ops = &counting_ops, .error = error};
    sem_init(&store->begun, 0, 0);
    sem_init(&store->go_on, 0, 0);
}

static void counting_fini(struct counting_store *store)
{
    sem_destroy(&store->begun);
    sem_destroy(&store->go_on);
}

static void being_asked_while_it_works_is_remembered_once(void **state)
{
    struct counting_store store;
    struct sync_thread *thread;
    counting_init(&store, 0);
    assert_int_equal(sync_thread_create(&store.base, &thread), 0);
    sync_thread_ask(thread);
    sem_wait(&store.begun);
    for (int i = 0; i < 10; i++)
        sync_thread_ask(thread);
    sem_post(&store.go_on);
    sem_wait(&store.begun);
    sem_post(&store.go_on);
    while (sync_thread_count(thread) < 2)
        usleep(100);
    usleep(20000);
    assert_int_equal(sync_thread_count(thread), 2);
    assert_int_equal(sync_thread_errors(thread), 0);
    sync_thread_destroy(&thread);
    assert_null(thread);
    counting_fini(&store);
}

static void failures_are_counted_and_the_end_waits_for_the_work(void **state)
{
    struct counting_store store;
    struct sync_thread *thread;
    counting_init(&store, -EIO);
    assert_int_equal(sync_thread_create(&store.base, &thread), 0);
    sync_thread_ask(thread);
    sem_wait(&store.begun);
    sem_post(&store.go_on);
    while (sync_thread_count(thread) < 1)
        usleep(100);
    assert_int_equal(sync_thread_errors(thread), 1);
    sync_thread_ask(thread);
    sem_post(&store.go_on);
    sync_thread_destroy(&thread);
    assert_int_equal(sem_trywait(&store.begun), 0); /* the second one was done before the end */
    sync_thread_destroy(&thread);                   /* NULL is fine */
    counting_fini(&store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(being_asked_while_it_works_is_remembered_once),
        cmocka_unit_test(failures_are_counted_and_the_end_waits_for_the_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
