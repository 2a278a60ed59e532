/*
 * The list of big keys: one block of memory, the keys sorted by length and then by bytes, which is
 * quick to compare and as good an order as any.
 */
#include "router/big_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

struct big_keys {
    uint32_t references; /* atomic */
    size_t count;
    struct slice keys[]; /* their bytes stand behind them */
};

static int compare(struct slice a, struct slice b)
{
    if (a.len != b.len)
        return a.len < b.len ? -1 : 1;
    return a.len ? memcmp(a.ptr, b.ptr, a.len) : 0;
}

static int compare_entries(const void *a, const void *b)
{
    return compare(*(const struct slice *)a, *(const struct slice *)b);
}

static size_t total_len(const struct slice *keys, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += keys[i].len;
    return total;
}

/* Copies keys behind each other; returns where the next go. */
static char *copy_keys(struct slice *to, const struct slice *from, size_t count, char *bytes)
{
    for (size_t i = 0; i < count; i++) {
        if (from[i].len)
            memcpy(bytes, from[i].ptr, from[i].len);
        to[i] = (struct slice){bytes, from[i].len};
        bytes += from[i].len;
    }
    return bytes;
}

static void drop_doubles(struct big_keys *keys)
{
    size_t kept = 0;
    for (size_t i = 0; i < keys->count; i++)
        if (kept == 0 || compare(keys->keys[kept - 1], keys->keys[i]) != 0)
            keys->keys[kept++] = keys->keys[i];
    keys->count = kept;
}

int big_keys_create(const struct big_keys *old, const struct slice *keys, size_t count,
                    struct big_keys **ret_keys)
{
    size_t old_count = big_keys_count(old), all = old_count + count;
    size_t bytes = total_len(keys, count) + (old ? total_len(old->keys, old_count) : 0);
    struct big_keys *made = malloc(sizeof *made + all * sizeof made->keys[0] + bytes);
    if (!made)
        return -ENOMEM;
    made->references = 1;
    made->count = all;
    char *place = (char *)&made->keys[all];
    if (old)
        place = copy_keys(made->keys, old->keys, old_count, place);
    copy_keys(made->keys + old_count, keys, count, place);
    if (all)
        qsort(made->keys, all, sizeof made->keys[0], compare_entries);
    drop_doubles(made);
    *ret_keys = made;
    return 0;
}

struct big_keys *big_keys_ref(struct big_keys *keys)
{
    __atomic_fetch_add(&keys->references, 1, __ATOMIC_RELAXED);
    return keys;
}

void big_keys_unref(struct big_keys **keys_ptr)
{
    struct big_keys *keys = *keys_ptr;
    *keys_ptr = NULL;
    if (keys && __atomic_sub_fetch(&keys->references, 1, __ATOMIC_ACQ_REL) == 0)
        free(keys);
}

bool big_keys_has(const struct big_keys *keys, struct slice key)
{
    return keys && keys->count &&
           bsearch(&key, keys->keys, keys->count, sizeof keys->keys[0], compare_entries);
}

size_t big_keys_count(const struct big_keys *keys)
{
    return keys ? keys->count : 0;
}

struct slice big_keys_at(const struct big_keys *keys, size_t index)
{
    CW_ASSERT(index < keys->count);
    return keys->keys[index];
}
