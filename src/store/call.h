/*
 * One command being executed: its arguments, its keyspace, and where the reply goes. Every command
 * of the embedded engine is a function of a call (handlers.h); the handlers neither begin nor
 * commit, and leave failures of the store in keyspace->status, where call_execute() finds them.
 */
#ifndef STORE_CALL_H
#define STORE_CALL_H

#include "base/buffer.h"
#include "store/keyspace.h"
#include "store/mark_sets.h"
#include "wire/command.h"

enum { SESSION_NAME_LEN_MAX = 64, RUN_ID_LEN = 40 };

/* "0.1.0" */
extern const char engine_version[];

/* What a connection has told about itself. */
struct session {
    uint64_t id;
    int protocol; /* 2 or 3 */
    bool is_closing;
    uint8_t name_len;
    char name[SESSION_NAME_LEN_MAX];
};

/* What is the same for all calls of a node. */
struct engine {
    struct keyspace keyspace;
    struct marks marks;
    const char *id;              /* of the node */
    char run_id[RUN_ID_LEN + 1]; /* of this start of it */
    /* Ends the connection with that id: nothing more of it is executed. Whether there was one. NULL
     * where there are no connections. */
    bool (*kill)(void *context, uint64_t id);
    void *kill_context;
    size_t value_len_max;
    size_t reply_len_max; /* of one reply */
    uint64_t commands;    /* executed so far */
    uint64_t expired_keys, write_errors;
    struct buffer listed; /* the elements of an array whose length is not yet known */
};

struct call {
    struct engine *engine;
    struct keyspace *keyspace;
    struct session *session;
    const struct command *command;
    const struct resp_request *request;
    const char *bytes; /* of the request */
    struct buffer *out;
    size_t out_start;   /* where this call's reply begins in out */
    bool is_oversize;   /* the reply is too long */
    bool is_unwritable; /* no memory for the reply */
};

/* How a call ended. */
enum call_result {
    CALL_DONE,   /* the reply is written; the write waits for commit */
    CALL_LOST,   /* the transaction is lost; the reply was taken back, keyspace->status says why */
    CALL_BROKEN, /* no memory for a reply: the connection must be closed */
};

/* Executes one complete request in the keyspace's transaction, which it begins if need be. */
enum call_result call_execute(struct engine *engine, struct session *session,
                              const struct resp_request *request, const char *bytes,
                              struct buffer *out);
/* Whether a request gives room back, and so may use the reserve of a full store. */
bool call_frees_room(const struct resp_request *request, const char *bytes);

/* Whether embedded nodes answer a command at all. */
bool call_is_served(const struct command *command);

/* ---- for handlers ---------------------------------------------------------------------------- */

static inline uint32_t arg_count(const struct call *call)
{
    return call->request->arg_count;
}

static inline struct slice arg(const struct call *call, uint32_t i)
{
    return resp_request_arg(call->request, call->bytes, i);
}

/* Whether an argument is this word in any case. */
bool arg_is(const struct call *call, uint32_t i, const char *word);
/* An integer argument; replies with an error if it is none. */
bool arg_integer(struct call *call, uint32_t i, int64_t *ret_number);
/* The number of a database, of which there is only 0; replies with an error if it is not that. */
bool arg_is_db_zero(struct call *call, uint32_t i);

/* Replies. Each handler gives exactly one, unless the keyspace has failed. */
void reply_ok(struct call *call);
void reply_simple(struct call *call, const char *text);
void reply_integer(struct call *call, int64_t number);
void reply_bulk(struct call *call, struct slice bytes);
void reply_text(struct call *call, const char *text);
void reply_null(struct call *call);
void reply_array(struct call *call, size_t count);
void reply_map(struct call *call, size_t pairs);
/* An array of count elements, which stand written in engine->listed; empties that. */
void reply_listed(struct call *call, size_t count);
void reply_listed_set(struct call *call, size_t count); /* the same as a set */
/* "-" text. */
void reply_error(struct call *call, const char *text);
void reply_errorf(struct call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));
void reply_syntax_error(struct call *call);
void reply_arity_error(struct call *call);
/* The name of the command as Redis puts it into errors. */
void call_name(const struct call *call, char *ret_name, size_t size);

#endif
