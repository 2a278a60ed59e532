/*
 * The few set commands that dirty sets need (mark_sets.h). There are no other sets here: a key that
 * does not begin with "\0cw:" is refused. They use no transaction of the store; what a lost
 * transaction takes back with them is the node's to undo.
 */
#include "store/handlers.h"

/* What a member needs around it in a reply. */
enum { MEMBER_FRAME_LEN = 16 };

static bool is_served_name(struct call *call)
{
    if (marks_is_name(arg(call, 1)))
        return true;
    reply_error(call, "ERR sets are not served by embedded nodes");
    return false;
}

void cmd_sadd(struct call *call)
{
    int64_t added = 0;
    if (!is_served_name(call))
        return;
    for (uint32_t i = 2; i < arg_count(call); i++) {
        int result = marks_add(&call->engine->marks, arg(call, 1), arg(call, i));
        if (result < 0) {
            reply_error(call, "OOM the keys of this node that were written while they move away "
                              "are more than it can note");
            return;
        }
        added += result;
    }
    reply_integer(call, added);
}

void cmd_srem(struct call *call)
{
    struct marks *marks = &call->engine->marks;
    int64_t removed = 0;
    if (!is_served_name(call))
        return;
    for (uint32_t i = 2; i < arg_count(call); i++)
        removed += marks_remove(marks, marks_find(marks, arg(call, 1)), arg(call, i));
    reply_integer(call, removed);
}

void cmd_scard(struct call *call)
{
    if (is_served_name(call))
        reply_integer(call,
                      (int64_t)mark_set_count(marks_find(&call->engine->marks, arg(call, 1))));
}

void cmd_sismember(struct call *call)
{
    if (is_served_name(call))
        reply_integer(call,
                      mark_set_has(marks_find(&call->engine->marks, arg(call, 1)), arg(call, 2)));
}

/* ---- SPOP ------------------------------------------------------------------------------------ */

static void pop_one(struct call *call, struct mark_set *set)
{
    struct slice member;
    size_t len_max = call->engine->reply_len_max - MEMBER_FRAME_LEN;
    if (marks_pop(&call->engine->marks, set, len_max, &member))
        reply_bulk(call, member);
    else
        reply_null(call);
}

/* What no longer fits into the reply stays in the set: a member that is taken out and not told
 * would be a write forgotten. */
static void pop_many(struct call *call, struct mark_set *set, uint64_t count_max)
{
    struct buffer *listed = &call->engine->listed;
    struct slice member;
    size_t count = 0;
    while (count < count_max &&
           listed->len + (count + 2) * MEMBER_FRAME_LEN < call->engine->reply_len_max &&
           marks_pop(&call->engine->marks, set,
                     call->engine->reply_len_max - listed->len - 2 * MEMBER_FRAME_LEN, &member)) {
        if (!resp_write_bulk(listed, member.ptr, member.len))
            call->is_unwritable = true;
        count++;
    }
    reply_listed_set(call, count);
}

/* SPOP key [count] */
void cmd_spop(struct call *call)
{
    int64_t count;
    if (!is_served_name(call))
        return;
    struct mark_set *set = marks_find(&call->engine->marks, arg(call, 1));
    if (arg_count(call) == 2)
        pop_one(call, set);
    else if (arg_count(call) > 3)
        reply_syntax_error(call);
    else if (!resp_parse_integer(arg(call, 2), &count) || count < 0)
        reply_error(call, "ERR value is out of range, must be positive");
    else
        pop_many(call, set, (uint64_t)count);
}
