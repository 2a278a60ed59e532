/*
 * A copy under way, and what the types of values do in it. copy_big.c has the order of things;
 * copy_big_*.c know the types.
 *
 * Everything goes in rounds: some calls to one or both nodes; when the last one is answered, the
 * next step is taken.
 */
#ifndef MOVE_COPY_BIG_INTERNAL_H
#define MOVE_COPY_BIG_INTERNAL_H

#include "move/answer.h"
#include "move/copy_big.h"

enum { COPY_BIG_ID_SIZE = 48 };

/* The one long command that writes a large string. */
enum copy_big_sending {
    SENDING_NOTHING,
    SENDING_PIECES,  /* its answer is not waited for yet */
    SENDING_WHOLE,   /* all is queued: the answer counts as pending */
    SENDING_SPOILED, /* given up: the answer, which is pending too, says nothing */
};

struct copy_big_type;

struct copy_big {
    struct move *move;
    struct peer *source, *target;
    struct buffer name; /* move->prefix, the key */
    struct slice key, temporary;
    job_done done;
    void *context;
    struct io_timer *timer; /* made when the throttle has to be waited for */
    uint32_t pending;       /* calls not answered yet */
    void (*next)(struct copy_big *copy);
    const struct copy_big_type *type;

    bool is_failed, is_gone;
    bool is_direct; /* all of it came in one chunk: written under its own name */
    bool is_begun;  /* something was written */
    bool is_whole;  /* the last chunk was read */
    bool *is_left;  /* NULL: it is copied however long; else set when it is left to others ... */
    uint32_t chunks_max; /* ... because it needs more than these */
    struct job_end end;
    int64_t expires_ms; /* -1: never */
    uint64_t bytes, chunks;

    uint64_t position;             /* in lists and strings: elements, bytes */
    char cursor[COPY_BIG_ID_SIZE]; /* of a scan; the last id of a stream */
    uint32_t ask, ask_max;         /* elements of the next chunk; at most, as the nodes are now */
    uint64_t asked_ns, fastest_ns; /* the chunk under way, or 0; the fastest so far */
    struct buffer args;            /* slices of the command that is put together */
    size_t args_bytes, args_elements;

    struct key_list fields; /* of a hash, in this chunk, when fields may have lifetimes */

    /* large strings */
    enum copy_big_sending sending;
    uint64_t length;   /* when its first piece was read */
    uint32_t restarts; /* because it became shorter */

    /* streams: the groups, and the one that is copied */
    struct key_list groups;
    size_t group;
    int64_t time_ms; /* of the source, when it told of pending elements */
    size_t pending_got;
};

/* What a type does. */
struct copy_big_type {
    const char *name; /* as TYPE tells it */
    const char *read, *write;
    uint32_t parts;  /* strings that an element has */
    bool is_swapped; /* read as member, score; written as score, member */
    bool has_field_times;
    bool has_elements; /* that are marked one by one when the key is known to be big */
    /* Asks the source for the next chunk; the answer goes to copy_big_on_chunk(). */
    void (*ask)(struct copy_big *copy, const struct copy_big_type *type);
    /* Writes what came and sets is_whole. False when it is no proper answer. */
    bool (*take)(struct copy_big *copy, const struct copy_big_type *type, struct answer *answer);
    /* After the last chunk, instead of copy_big_finish(), which it leads to. */
    void (*after)(struct copy_big *copy);
};

extern const struct copy_big_type copy_big_string, copy_big_stream;
/* NULL: nothing that can be copied. */
const struct copy_big_type *copy_big_find_type(struct slice name);

/* ---- for the types ---------------------------------------------------------------------------
 */

/* Call a node; the callback begins with copy_big_is_answered(). Out of memory: the copy fails. */
void copy_big_ask(struct copy_big *copy, const struct slice *args, size_t count,
                  peer_reply callback);
void copy_big_tell(struct copy_big *copy, const struct slice *args, size_t count,
                   peer_reply callback);
/* For the answer to a chunk, and for the end of the key: whether it still is there. */
void copy_big_on_chunk(void *context, const char *reply, size_t len);
void copy_big_ask_expiry(struct copy_big *copy);
/* For answers to copy_big_tell(): all but an error is fine. */
void copy_big_on_written(void *context, const char *reply, size_t len);

/* Counts an answer. False when there is none, or an error: then all is done for it (an error of the
 * source that says that the key is another one now ends the copy well). Callbacks end with
 * copy_big_go_on(). */
bool copy_big_is_answered(struct copy_big *copy, struct peer *peer, const char *reply, size_t len);
/* Gives up the command that writes a large string, if there is one under way. */
void copy_big_spoil(struct copy_big *copy);
/* Starts with the first chunk again. */
void copy_big_ask_chunk(struct copy_big *copy);
/* Takes the next step when nothing is pending. The copy may be freed after it. */
void copy_big_go_on(struct copy_big *copy);
void copy_big_fail(struct copy_big *copy, enum job_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The node answered something that makes no sense. */
void copy_big_fail_strange(struct copy_big *copy, const struct peer *peer, const char *command);

/* Asks for the lifetimes of copy->fields, if any, and sets those that are limited. */
void copy_big_ask_field_times(struct copy_big *copy);

/* The name that is written under. */
struct slice copy_big_name(const struct copy_big *copy);
/* Before and after the commands that write a chunk: renews the time of the temporary key. */
void copy_big_begin_chunk(struct copy_big *copy);
void copy_big_end_chunk(struct copy_big *copy);
/* Puts a command of many elements together: sends what is there when it is long enough. */
void copy_big_add(struct copy_big *copy, const char *command, const struct slice *parts,
                  size_t count);
void copy_big_add_arg(struct copy_big *copy, struct slice arg);
void copy_big_send_added(struct copy_big *copy);
/* How many elements to ask for, after `elements` came in `bytes`. */
void copy_big_adapt(struct copy_big *copy, uint64_t elements, uint64_t bytes);
/* Gives the key its expiry and its name; the end. */
void copy_big_finish(struct copy_big *copy);

#endif
