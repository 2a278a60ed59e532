/*
 * Lifetimes that single fields of a hash have (Redis 7.4, Valkey 9). HSCAN does not tell them, and
 * HSET takes them away; so they are asked for after each chunk and set on the target. A source of
 * another version, which does not know the question, has none.
 */
#include <inttypes.h>
#include <stdio.h>

#include "move/copy_big_internal.h"
#include "move/refusal.h"

static bool is_unknown_command(const char *reply, size_t len)
{
    struct slice error;
    return answer_is_error(reply, len, &error) && answer_error_is(error, "ERR unknown command");
}

static void on_time_written(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    char shown[64];
    if (is_unknown_command(reply, len)) {
        copy->pending--;
        copy_big_fail(copy, JOB_REFUSED,
                      "key '%s' on node '%s' is a hash whose fields have lifetimes of their own, "
                      "which node '%s' does not know: give it a server of Redis 7.4 or Valkey 9 or "
                      "later, or take them away (HPERSIST)",
                      refusal_printable(copy->key, shown, sizeof shown), peer_id(copy->source),
                      peer_id(copy->target));
    } else {
        copy_big_is_answered(copy, copy->target, reply, len);
    }
    copy_big_go_on(copy);
}

static void set_time(struct copy_big *copy, struct slice field, int64_t expires_ms)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, expires_ms);
    struct slice args[] = {slice_of("HPEXPIREAT"), copy_big_name(copy), slice_of(text),
                           slice_of("FIELDS"),     slice_of("1"),       field};
    copy_big_tell(copy, args, 6, on_time_written);
}

/* A key that has gone is told of by its own expiry. */
static bool take_times(struct copy_big *copy, const char *reply, size_t len)
{
    struct answer answer = answer_start(reply, len);
    size_t count;
    int64_t expires_ms;
    if (!answer_array(&answer, &count) || (count && count != key_list_count(&copy->fields)))
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!answer_integer(&answer, &expires_ms))
            return false;
        if (expires_ms >= 0)
            set_time(copy, key_list_at(&copy->fields, i), expires_ms);
    }
    peer_flush(copy->target);
    return true;
}

static void on_times(void *context, const char *reply, size_t len)
{
    struct copy_big *copy = context;
    if (is_unknown_command(reply, len))
        copy->pending--;
    else if (copy_big_is_answered(copy, copy->source, reply, len) && !take_times(copy, reply, len))
        copy_big_fail_strange(copy, copy->source, "HPEXPIRETIME");
    key_list_clear(&copy->fields);
    copy_big_go_on(copy);
}

void copy_big_ask_field_times(struct copy_big *copy)
{
    char text[24];
    size_t count = key_list_count(&copy->fields);
    if (count == 0 || copy->is_failed)
        return;
    snprintf(text, sizeof text, "%zu", count);
    struct slice head[] = {slice_of("HPEXPIRETIME"), copy->key, slice_of("FIELDS"), slice_of(text)};
    bool fine = buffer_append(&copy->args, head, sizeof head);
    for (size_t i = 0; fine && i < count; i++) {
        struct slice field = key_list_at(&copy->fields, i);
        fine = buffer_append(&copy->args, &field, sizeof field);
    }
    if (fine)
        copy_big_ask(copy, (const struct slice *)(const void *)buffer_bytes(&copy->args), 4 + count,
                     on_times);
    else
        copy_big_fail(copy, JOB_FAILED, "no memory for the fields of a hash");
    buffer_clear(&copy->args);
    peer_flush(copy->source);
}
