#include "store/sync_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct sync_thread {
    pthread_t id;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    struct store *store;
    bool is_asked, is_ending;
    uint64_t errors, count;
};

/* Waits for work, the mutex held. False: the end. */
static bool wait_for_work(struct sync_thread *thread)
{
    while (!thread->is_asked && !thread->is_ending)
        pthread_cond_wait(&thread->changed, &thread->mutex);
    bool is_asked = thread->is_asked;
    thread->is_asked = false;
    return is_asked;
}

static void *run(void *context)
{
    struct sync_thread *thread = context;
    pthread_mutex_lock(&thread->mutex);
    while (wait_for_work(thread)) {
        pthread_mutex_unlock(&thread->mutex);
        int error = thread->store->ops->sync(thread->store);
        pthread_mutex_lock(&thread->mutex);
        thread->errors += error != 0;
        thread->count++;
    }
    pthread_mutex_unlock(&thread->mutex);
    return NULL;
}

/* Signals are for the program's main thread. */
static int start(struct sync_thread *thread)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    int error = pthread_create(&thread->id, NULL, run, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

int sync_thread_create(struct store *store, struct sync_thread **ret_thread)
{
    struct sync_thread *thread = calloc(1, sizeof *thread);
    if (!thread)
        return -ENOMEM;
    thread->store = store;
    pthread_mutex_init(&thread->mutex, NULL);
    pthread_cond_init(&thread->changed, NULL);
    int error = start(thread);
    if (error) {
        free(thread);
        return -error;
    }
    *ret_thread = thread;
    return 0;
}

void sync_thread_destroy(struct sync_thread **thread)
{
    struct sync_thread *gone = *thread;
    if (!gone)
        return;
    pthread_mutex_lock(&gone->mutex);
    gone->is_ending = true;
    pthread_cond_signal(&gone->changed);
    pthread_mutex_unlock(&gone->mutex);
    pthread_join(gone->id, NULL);
    pthread_cond_destroy(&gone->changed);
    pthread_mutex_destroy(&gone->mutex);
    free(gone);
    *thread = NULL;
}

void sync_thread_ask(struct sync_thread *thread)
{
    pthread_mutex_lock(&thread->mutex);
    thread->is_asked = true;
    pthread_cond_signal(&thread->changed);
    pthread_mutex_unlock(&thread->mutex);
}

static uint64_t read_locked(struct sync_thread *thread, const uint64_t *number)
{
    pthread_mutex_lock(&thread->mutex);
    uint64_t copy = *number;
    pthread_mutex_unlock(&thread->mutex);
    return copy;
}

uint64_t sync_thread_errors(struct sync_thread *thread)
{
    return read_locked(thread, &thread->errors);
}

uint64_t sync_thread_count(struct sync_thread *thread)
{
    return read_locked(thread, &thread->count);
}
