/*
 * Lists of keys, in one piece of memory; and the list of the big keys that jobs have met.
 */
#ifndef MOVE_KEY_LIST_H
#define MOVE_KEY_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "wire/resp.h"

struct key_list {
    struct buffer bytes;
    struct buffer ends; /* a size_t a key: where it ends in `bytes` */
};

#define KEY_LIST_INIT                                                                              \
    {                                                                                              \
        BUFFER_INIT, BUFFER_INIT                                                                   \
    }

/* False when memory is out. */
bool key_list_add(struct key_list *list, struct slice key);
size_t key_list_count(const struct key_list *list);
struct slice key_list_at(const struct key_list *list, size_t index);
void key_list_clear(struct key_list *list);
void key_list_release(struct key_list *list);

/* A sample of many keys, evenly over all that were offered: every stride-th; when it is full every
 * second of those is dropped, and the stride doubles. All zeros is an empty one. */
struct key_sample {
    struct key_list keys;
    uint64_t seen, stride;
};

enum { KEY_SAMPLE_MAX = 256 };

/* Keeps the key or not; when memory is out it does not. */
void key_sample_offer(struct key_sample *sample, struct slice key);
void key_sample_clear(struct key_sample *sample);
void key_sample_release(struct key_sample *sample);

/* A big key and the node of the map `from` that has it. */
struct big_found {
    struct key_list keys;
    struct buffer sources; /* a uint32_t a key */
};

#endif
