#include "control/change_wait.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLICE_MS = 100 }; /* how soon the end of the router is noticed */

struct change_wait {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    unsigned holders;
    bool is_answered;
    struct change_answer answer;
};

/* ---- estimates ------------------------------------------------------------------------------- */

void change_estimate_destroy(struct change_estimate **estimate)
{
    if (!*estimate)
        return;
    cw_map_unref(&(*estimate)->from);
    cw_map_unref(&(*estimate)->to);
    free((*estimate)->keys);
    free((*estimate)->bytes);
    free((*estimate)->keys_in);
    free((*estimate)->bytes_in);
    free(*estimate);
    *estimate = NULL;
}

/* All zeros where the mover has no figures. */
static uint64_t *copy_numbers(const uint64_t *numbers, const struct cw_map *map)
{
    uint32_t count = cw_map_node_count(map);
    uint64_t *copy = calloc((size_t)count + 1, sizeof *copy);
    if (copy && numbers)
        memcpy(copy, numbers, count * sizeof *copy);
    return copy;
}

static struct change_estimate *copy_estimate(const struct mover_estimate *from)
{
    struct change_estimate *copy = calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    copy->from = cw_map_ref((struct cw_map *)(uintptr_t)from->from);
    copy->to = cw_map_ref((struct cw_map *)(uintptr_t)from->to);
    copy->keys = copy_numbers(from->keys, from->from);
    copy->bytes = copy_numbers(from->bytes, from->from);
    copy->keys_in = copy_numbers(from->keys_in, from->to);
    copy->bytes_in = copy_numbers(from->bytes_in, from->to);
    copy->sampled = from->sampled;
    copy->heaviest_bytes = from->heaviest_bytes;
    snprintf(copy->heaviest, sizeof copy->heaviest, "%s", from->heaviest);
    snprintf(copy->problem, sizeof copy->problem, "%s", from->problem);
    if (!copy->keys || !copy->bytes || !copy->keys_in || !copy->bytes_in)
        change_estimate_destroy(&copy);
    return copy;
}

/* ---- the object ------------------------------------------------------------------------------ */

struct change_wait *change_wait_create(void)
{
    pthread_condattr_t attributes;
    struct change_wait *wait = calloc(1, sizeof *wait);
    if (!wait)
        return NULL;
    wait->holders = 2;
    pthread_mutex_init(&wait->lock, NULL);
    /* Setting the clock must not make a question time out. */
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&wait->answered, &attributes);
    pthread_condattr_destroy(&attributes);
    return wait;
}

/* With the lock held; gives it up. */
static void let_go(struct change_wait *wait)
{
    unsigned left = --wait->holders;
    pthread_mutex_unlock(&wait->lock);
    if (left)
        return;
    change_estimate_destroy(&wait->answer.estimate);
    pthread_cond_destroy(&wait->answered);
    pthread_mutex_destroy(&wait->lock);
    free(wait);
}

/* ---- the mover's side ------------------------------------------------------------------------ */

static void put_answer(struct change_wait *wait, int status, const char *text,
                       struct change_estimate *estimate)
{
    pthread_mutex_lock(&wait->lock);
    wait->answer.status = status;
    wait->answer.estimate = estimate;
    snprintf(wait->answer.text, sizeof wait->answer.text, "%s", text ? text : "");
    wait->is_answered = true;
    pthread_cond_signal(&wait->answered);
    let_go(wait);
}

void change_wait_answer(void *wait, int status, const char *text)
{
    put_answer(wait, status, text, NULL);
}

void change_wait_estimated(void *wait, int status, const char *text,
                           const struct mover_estimate *estimate)
{
    struct change_estimate *copy = status < 0 || !estimate ? NULL : copy_estimate(estimate);
    if (status >= 0 && !copy)
        put_answer(wait, -ENOMEM, "out of memory", NULL);
    else
        put_answer(wait, status, text, copy);
}

/* ---- the asker's side ------------------------------------------------------------------------ */

static struct timespec time_in(uint32_t ms)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_sec += ms / 1000;
    at.tv_nsec += (long)(ms % 1000) * 1000000;
    if (at.tv_nsec >= 1000000000) {
        at.tv_sec++;
        at.tv_nsec -= 1000000000;
    }
    return at;
}

static bool is_over(const struct timespec *deadline)
{
    struct timespec now = time_in(0);
    return now.tv_sec > deadline->tv_sec ||
           (now.tv_sec == deadline->tv_sec && now.tv_nsec >= deadline->tv_nsec);
}

/* With the lock held. 0 or why there is no answer. */
static int wait_for_answer(struct change_wait *wait, uint32_t timeout_ms,
                           const atomic_bool *is_stopping)
{
    struct timespec deadline = time_in(timeout_ms);
    while (!wait->is_answered) {
        struct timespec slice = time_in(timeout_ms < SLICE_MS ? timeout_ms : SLICE_MS);
        if (atomic_load(is_stopping))
            return -ECANCELED;
        if (is_over(&deadline))
            return -ETIMEDOUT;
        pthread_cond_timedwait(&wait->answered, &wait->lock, &slice);
    }
    return 0;
}

static void fail(struct change_answer *answer, int status)
{
    static const char timed_out[] = "the part that moves keys does not answer; look at "
                                    "`clockwise status` and at the router's log";
    *answer = (struct change_answer){.status = status};
    snprintf(answer->text, sizeof answer->text, "%s",
             status == -ETIMEDOUT   ? timed_out
             : status == -ECANCELED ? "the router is being stopped"
             : status == -ENOMEM    ? "out of memory"
                                    : strerror(-status));
}

void change_wait_end(struct change_wait **wait, int asked, uint32_t timeout_ms,
                     const atomic_bool *is_stopping, struct change_answer *ret_answer)
{
    struct change_wait *held = *wait;
    *wait = NULL;
    pthread_mutex_lock(&held->lock);
    int status = asked < 0 ? asked : wait_for_answer(held, timeout_ms, is_stopping);
    if (status < 0) {
        fail(ret_answer, status);
    } else {
        *ret_answer = held->answer;
        held->answer.estimate = NULL;
    }
    if (asked < 0)
        held->holders--; /* nobody was given it */
    let_go(held);
}
