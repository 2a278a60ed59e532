/*
 * A lock for the few things that threads share: held for a handful of instructions, never across a
 * call that may wait.
 */
#ifndef BASE_MUTEX_H
#define BASE_MUTEX_H

#include <pthread.h>

struct mutex {
    pthread_mutex_t mutex;
};

static inline void mutex_init(struct mutex *mutex)
{
    pthread_mutex_init(&mutex->mutex, NULL);
}

static inline void mutex_fini(struct mutex *mutex)
{
    pthread_mutex_destroy(&mutex->mutex);
}

static inline void mutex_lock(struct mutex *mutex)
{
    pthread_mutex_lock(&mutex->mutex);
}

static inline void mutex_unlock(struct mutex *mutex)
{
    pthread_mutex_unlock(&mutex->mutex);
}

#endif
