/*
 * How hashes, sets, sorted sets and lists are read in pieces and written again.
 *
 * Scores come as the text that Redis made of them, which has all digits of a double, and go as they
 * came.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "move/copy_big_internal.h"

/* ---- by cursor: hashes, sets, sorted sets -----------------------------------------------------
 */

static void scan_ask(struct copy_big *copy, const struct copy_big_type *type)
{
    char count[16];
    snprintf(count, sizeof count, "%u", copy->ask);
    struct slice args[] = {slice_of(type->read), copy->key, slice_of(copy->cursor),
                           slice_of("COUNT"), slice_of(count)};
    copy_big_ask(copy, args, 5, copy_big_on_chunk);
}

static bool take_cursor(struct copy_big *copy, struct answer *answer)
{
    struct slice cursor;
    if (!answer_text(answer, &cursor) || cursor.len == 0 || cursor.len >= sizeof copy->cursor)
        return false;
    memcpy(copy->cursor, cursor.ptr, cursor.len);
    copy->cursor[cursor.len] = '\0';
    copy->is_whole = slice_is(cursor, "0");
    return true;
}

static bool take_elements(struct copy_big *copy, const struct copy_big_type *type,
                          struct answer *answer, size_t count)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        struct slice parts[2] = {{NULL, 0}, {NULL, 0}};
        for (size_t part = 0; part < type->parts; part++)
            if (!answer_text(answer, &parts[part]))
                return false;
        bytes += parts[0].len + parts[1].len;
        if (type->has_field_times && copy->move->has_field_times &&
            !key_list_add(&copy->fields, parts[0]))
            copy_big_fail(copy, JOB_FAILED, "no memory for the fields of a hash");
        if (type->is_swapped) {
            struct slice member = parts[0];
            parts[0] = parts[1];
            parts[1] = member;
        }
        copy_big_add(copy, type->write, parts, type->parts);
    }
    copy_big_adapt(copy, count, bytes);
    return true;
}

/* Nothing is begun for nothing: a part of a table may be empty. */
static bool take_chunk(struct copy_big *copy, const struct copy_big_type *type,
                       struct answer *answer, size_t count)
{
    if (count == 0)
        return true;
    copy->is_direct = copy->is_whole && !copy->is_begun;
    copy_big_begin_chunk(copy);
    bool fine = take_elements(copy, type, answer, count);
    copy_big_end_chunk(copy);
    copy_big_ask_field_times(copy);
    return fine;
}

static bool scan_take(struct copy_big *copy, const struct copy_big_type *type,
                      struct answer *answer)
{
    size_t two, count;
    return answer_array(answer, &two) && two == 2 && take_cursor(copy, answer) &&
           answer_array(answer, &count) && count % type->parts == 0 &&
           take_chunk(copy, type, answer, count / type->parts);
}

/* ---- by place: lists --------------------------------------------------------------------------
 */

static void list_ask(struct copy_big *copy, const struct copy_big_type *type)
{
    char first[24], last[24];
    snprintf(first, sizeof first, "%" PRIu64, copy->position);
    snprintf(last, sizeof last, "%" PRIu64, copy->position + copy->ask - 1);
    struct slice args[] = {slice_of(type->read), copy->key, slice_of(first), slice_of(last)};
    copy_big_ask(copy, args, 4, copy_big_on_chunk);
}

static bool list_take(struct copy_big *copy, const struct copy_big_type *type,
                      struct answer *answer)
{
    size_t count;
    if (!answer_array(answer, &count))
        return false;
    copy->is_whole = count < copy->ask;
    copy->position += count;
    return take_chunk(copy, type, answer, count);
}

/* ---- the table --------------------------------------------------------------------------------
 */

static const struct copy_big_type types[] = {
    {.name = "hash",
     .read = "HSCAN",
     .write = "HSET",
     .parts = 2,
     .has_field_times = true,
     .has_elements = true,
     .ask = scan_ask,
     .take = scan_take},
    {.name = "set",
     .read = "SSCAN",
     .write = "SADD",
     .parts = 1,
     .has_elements = true,
     .ask = scan_ask,
     .take = scan_take},
    {.name = "zset",
     .read = "ZSCAN",
     .write = "ZADD",
     .parts = 2,
     .is_swapped = true,
     .has_elements = true,
     .ask = scan_ask,
     .take = scan_take},
    {.name = "list",
     .read = "LRANGE",
     .write = "RPUSH",
     .parts = 1,
     .ask = list_ask,
     .take = list_take},
};

const struct copy_big_type *copy_big_find_type(struct slice name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (slice_is(name, types[i].name))
            return &types[i];
    if (slice_is(name, copy_big_string.name))
        return &copy_big_string;
    return slice_is(name, copy_big_stream.name) ? &copy_big_stream : NULL;
}
