/*
 * A map store in memory for tests: what was put survives the router, as a disk would. It may fail:
 * by a full disk (nothing stored), or by an error behind a store that worked.
 */
#ifndef TESTS_MOVE_MEMORY_STORE_H
#define TESTS_MOVE_MEMORY_STORE_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/random.h"
#include "io/io.h"
#include "move/map_store.h"

struct memory_store;

/* What a put will answer: there is one at a time. */
struct memory_store_answer {
    struct memory_store *store;
    int status;
    map_store_done done;
    void *context;
};

struct memory_store {
    struct map_store store; /* first: the interface */
    struct io_loop *loop;   /* the mover's, of this life of the router */
    struct map_record *record;
    struct random random;
    uint32_t full_permille, late_error_permille;
    uint64_t puts, failures;
    struct memory_store_answer answer;
    bool states[TRANSITION_STATE_COUNT];
};

static inline struct map_record *memory_record_copy(const struct map_record *from)
{
    struct map_record *record = map_record_copy(from);
    CW_ASSERT(record);
    return record;
}

static inline int memory_store_load(struct map_store *base, const char *pool,
                                    struct map_record **ret_record, char *ret_problem, size_t size)
{
    struct memory_store *store = (struct memory_store *)base;
    (void)pool;
    snprintf(ret_problem, size, "there is none");
    if (!store->record)
        return -ENOENT;
    *ret_record = memory_record_copy(store->record);
    return 0;
}

static inline void memory_store_answer(void *context)
{
    struct memory_store_answer *answer = context;
    answer->done(answer->context, answer->status, answer->status ? "the disk is full" : "");
}

static inline void memory_store_put(struct map_store *base, const char *pool,
                                    const struct map_record *record, map_store_done done,
                                    void *context)
{
    struct memory_store *store = (struct memory_store *)base;
    struct memory_store_answer *answer = &store->answer;
    uint64_t revision = store->record ? store->record->revision : 0;
    (void)pool;
    *answer = (struct memory_store_answer){store, 0, done, context};
    store->puts++;
    if (random_below(&store->random, 1000) < store->full_permille) {
        answer->status = -ENOSPC;
    } else if (revision != record->revision) {
        answer->status = -ESTALE;
    } else {
        struct map_record *stored = memory_record_copy(record);
        map_record_destroy(&store->record);
        stored->revision = revision + 1;
        store->record = stored;
        store->states[record->transition ? record->transition->state : TRANSITION_STABLE] = true;
        if (random_below(&store->random, 1000) < store->late_error_permille)
            answer->status = -EIO;
    }
    store->failures += answer->status != 0;
    CW_ASSERT(io_post(store->loop, memory_store_answer, answer) == 0);
}

static const struct map_store_ops memory_store_ops = {
    .load = memory_store_load,
    .put = memory_store_put,
};

static inline void memory_store_init(struct memory_store *store, uint64_t seed)
{
    *store = (struct memory_store){.store = {&memory_store_ops}, .random = {seed ^ 0x570e}};
}

static inline void memory_store_release(struct memory_store *store)
{
    map_record_destroy(&store->record);
}

#endif
