/*
 * What a memory node keeps: values of four types, and dicts that hold them by name. The keys of a
 * node, the fields of a hash and the members of a set are all dicts. Memory is asserted: a test
 * that has none is no test.
 */
#ifndef TESTS_ROUTER_MEMORY_VALUE_H
#define TESTS_ROUTER_MEMORY_VALUE_H

#include <stdlib.h>
#include <string.h>

#include <clockwise/clockwise.h>

#include "base/assert.h"
#include "base/random.h"
#include "wire/resp.h"

enum memory_type { MEMORY_STRING, MEMORY_LIST, MEMORY_SET, MEMORY_HASH };

struct memory_text {
    char *ptr; /* terminated as well */
    size_t len;
};

/* A chained hash table whose size is a power of two. */
struct memory_dict {
    struct memory_item **chains;
    uint64_t size, count; /* size 0: nothing allocated yet */
};

struct memory_value {
    enum memory_type type;
    uint64_t expire_ms;         /* of a key: milliseconds since 1970; 0: never */
    struct memory_text text;    /* a string */
    struct memory_text *values; /* a list */
    size_t value_count;
    struct memory_dict members; /* a set, whose members have empty strings; a hash */
};

struct memory_item {
    struct memory_text name;
    uint64_t hash;
    struct memory_value value;
    struct memory_item *next;
};

/* ---- texts ----------------------------------------------------------------------------------- */

static inline struct memory_text memory_text(struct slice bytes)
{
    struct memory_text text = {malloc(bytes.len + 1), bytes.len};
    CW_ASSERT(text.ptr);
    if (bytes.len)
        memcpy(text.ptr, bytes.ptr, bytes.len);
    text.ptr[bytes.len] = '\0';
    return text;
}

static inline struct slice memory_slice(struct memory_text text)
{
    return (struct slice){text.ptr, text.len};
}

static inline void memory_text_set(struct memory_text *text, struct slice bytes)
{
    struct memory_text fresh = memory_text(bytes);
    free(text->ptr);
    *text = fresh;
}

static inline bool memory_text_is(struct memory_text text, struct slice bytes)
{
    return text.len == bytes.len && (bytes.len == 0 || memcmp(text.ptr, bytes.ptr, text.len) == 0);
}

/* ---- dicts ----------------------------------------------------------------------------------- */

static inline void memory_value_clear(struct memory_value *value);

static inline struct memory_item *memory_dict_find(const struct memory_dict *dict,
                                                   struct slice name)
{
    uint64_t hash = cw_hash(name.ptr, name.len);
    struct memory_item *item = dict->size ? dict->chains[hash & (dict->size - 1)] : NULL;
    while (item && !(item->hash == hash && memory_text_is(item->name, name)))
        item = item->next;
    return item;
}

static inline void memory_dict_resize(struct memory_dict *dict, uint64_t size)
{
    struct memory_item **old = dict->chains;
    uint64_t old_size = dict->size;
    dict->chains = calloc(size, sizeof(struct memory_item *));
    CW_ASSERT(dict->chains);
    dict->size = size;
    for (uint64_t i = 0; i < old_size; i++)
        for (struct memory_item *item = old[i], *next; item; item = next) {
            struct memory_item **chain = &dict->chains[item->hash & (size - 1)];
            next = item->next;
            item->next = *chain;
            *chain = item;
        }
    free(old);
}

/* The item of the name, made if there is none: then an empty string. */
static inline struct memory_item *memory_dict_put(struct memory_dict *dict, struct slice name)
{
    struct memory_item *item = memory_dict_find(dict, name);
    if (item)
        return item;
    if (dict->count >= dict->size)
        memory_dict_resize(dict, dict->size ? dict->size * 2 : 4);
    item = calloc(1, sizeof *item);
    CW_ASSERT(item);
    item->name = memory_text(name);
    item->hash = cw_hash(name.ptr, name.len);
    struct memory_item **chain = &dict->chains[item->hash & (dict->size - 1)];
    item->next = *chain;
    *chain = item;
    dict->count++;
    return item;
}

/* Shrinks as Redis does, so that cursors live through that too. */
static inline bool memory_dict_remove(struct memory_dict *dict, struct slice name)
{
    struct memory_item *item = memory_dict_find(dict, name);
    if (!item)
        return false;
    struct memory_item **link = &dict->chains[item->hash & (dict->size - 1)];
    while (*link != item)
        link = &(*link)->next;
    *link = item->next;
    memory_value_clear(&item->value);
    free(item->name.ptr);
    free(item);
    dict->count--;
    if (dict->size > 4 && dict->count * 8 < dict->size)
        memory_dict_resize(dict, dict->size / 2);
    return true;
}

/* The next item in the table's order; NULL begins and ends. The dict must not change meanwhile. */
static inline struct memory_item *memory_dict_next(const struct memory_dict *dict,
                                                   const struct memory_item *item)
{
    if (item && item->next)
        return item->next;
    for (uint64_t i = item ? (item->hash & (dict->size - 1)) + 1 : 0; i < dict->size; i++)
        if (dict->chains[i])
            return dict->chains[i];
    return NULL;
}

static inline void memory_dict_clear(struct memory_dict *dict)
{
    for (uint64_t i = 0; i < dict->size; i++)
        for (struct memory_item *item = dict->chains[i], *next; item; item = next) {
            next = item->next;
            memory_value_clear(&item->value);
            free(item->name.ptr);
            free(item);
        }
    free(dict->chains);
    *dict = (struct memory_dict){0};
}

/* Any of them (count > 0). */
static inline struct memory_item *memory_dict_random(const struct memory_dict *dict,
                                                     struct random *random)
{
    uint64_t number = random_below(random, dict->count);
    struct memory_item *item = memory_dict_next(dict, NULL);
    while (number--)
        item = memory_dict_next(dict, item);
    return item;
}

static inline uint64_t memory_reverse(uint64_t bits)
{
    uint64_t reversed = 0;
    for (int i = 0; i < 64; i++)
        reversed = reversed << 1 | (bits >> i & 1);
    return reversed;
}

typedef void (*memory_visitor)(void *context, struct memory_item *item);

/* Visits one chain and returns the cursor of the next, 0 after the last. Cursors count with their
 * bits reversed, as in Redis (dictScan, Pieter Noordhuis): whatever the table does between two
 * calls, a chain that was seen splits into and joins with chains that count as seen; so what is
 * there all the time is visited, now and then twice. */
static inline uint64_t memory_dict_scan(const struct memory_dict *dict, uint64_t cursor,
                                        memory_visitor visit, void *context)
{
    uint64_t mask = dict->size - 1;
    if (dict->size == 0)
        return 0;
    for (struct memory_item *item = dict->chains[cursor & mask]; item; item = item->next)
        visit(context, item);
    return memory_reverse(memory_reverse(cursor | ~mask) + 1);
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Leaves an empty string that never expires. */
static inline void memory_value_clear(struct memory_value *value)
{
    free(value->text.ptr);
    for (size_t i = 0; i < value->value_count; i++)
        free(value->values[i].ptr);
    free(value->values);
    memory_dict_clear(&value->members);
    *value = (struct memory_value){.type = MEMORY_STRING};
}

/* Puts a text into a list before the at-th. */
static inline void memory_list_insert(struct memory_value *list, size_t at, struct slice bytes)
{
    list->values = realloc(list->values, (list->value_count + 1) * sizeof *list->values);
    CW_ASSERT(list->values);
    memmove(list->values + at + 1, list->values + at,
            (list->value_count - at) * sizeof *list->values);
    list->values[at] = memory_text(bytes);
    list->value_count++;
}

/* Elements of a list, a set or a hash; 1 for a string. */
static inline size_t memory_value_len(const struct memory_value *value)
{
    switch (value->type) {
    case MEMORY_STRING: return 1;
    case MEMORY_LIST: return value->value_count;
    case MEMORY_SET:
    case MEMORY_HASH: return value->members.count;
    }
    return 0;
}

/* Bytes that it may take in a server. */
static inline size_t memory_value_bytes(const struct memory_value *value)
{
    size_t bytes = 56 + value->text.len;
    for (size_t i = 0; i < value->value_count; i++)
        bytes += 16 + value->values[i].len;
    for (struct memory_item *item = memory_dict_next(&value->members, NULL); item;
         item = memory_dict_next(&value->members, item))
        bytes += 40 + item->name.len + item->value.text.len;
    return bytes;
}

/* *to, which must be clear, becomes a copy. */
static inline void memory_value_copy(struct memory_value *to, const struct memory_value *from)
{
    to->type = from->type;
    to->expire_ms = from->expire_ms;
    if (from->text.ptr)
        to->text = memory_text(memory_slice(from->text));
    for (size_t i = 0; i < from->value_count; i++)
        memory_list_insert(to, i, memory_slice(from->values[i]));
    for (struct memory_item *item = memory_dict_next(&from->members, NULL); item;
         item = memory_dict_next(&from->members, item))
        memory_value_copy(&memory_dict_put(&to->members, memory_slice(item->name))->value,
                          &item->value);
}

/* Of type, expiry and contents; the order of members does not matter. Equal values have equal
 * digests, on all nodes. */
static inline uint64_t memory_value_digest(const struct memory_value *value)
{
    uint64_t members = 0;
    uint64_t digest = random_mix(value->type + 1) ^ value->expire_ms;
    if (value->text.len)
        digest ^= cw_hash(value->text.ptr, value->text.len);
    for (size_t i = 0; i < value->value_count; i++)
        digest = random_mix(digest) ^ cw_hash(value->values[i].ptr, value->values[i].len);
    for (struct memory_item *item = memory_dict_next(&value->members, NULL); item;
         item = memory_dict_next(&value->members, item))
        members += random_mix(item->hash ^ memory_value_digest(&item->value));
    return random_mix(digest) ^ random_mix(members);
}

#endif
