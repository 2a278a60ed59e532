/*
 * What the router knows of each Redis command: one table (commands.def), read by name. It says how
 * many arguments a command takes, where its keys are, what it does to them, who answers it, and how
 * the replies of several nodes become one. Immutable once the workers run.
 */
#ifndef WIRE_COMMAND_H
#define WIRE_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wire/resp.h"

/* Who answers. */
enum command_route {
    COMMAND_LOCAL, /* the router itself (PING, HELLO, CLIENT, …) */
    COMMAND_KEYED, /* the owner of its keys; of several: split if there is a merge, or refused */
    COMMAND_ALL,   /* every node, replies merged (DBSIZE, KEYS, FLUSHALL, …) */
    COMMAND_SCAN,  /* one node after the other, the cursor says which */
    COMMAND_TRANSACTION, /* MULTI and its kind: kept by the router until EXEC */
    COMMAND_REFUSED,     /* never through a router; the summary says why */
};

/* How the replies of a command that went to several nodes become one. */
enum command_merge {
    MERGE_NONE,
    MERGE_SUM,    /* integers are added: DEL, EXISTS, DBSIZE */
    MERGE_OK,     /* all OK, or the first error: MSET, FLUSHALL */
    MERGE_ARRAY,  /* one element a key, put back into the order of the keys: MGET */
    MERGE_CONCAT, /* arrays one after the other: KEYS */
    MERGE_ANY,    /* one that is not null, if there is one: RANDOMKEY */
};

/* Where the keys are. */
enum command_keys {
    KEYS_NONE,
    KEYS_RANGE,   /* first, last (negative: from the end), step */
    KEYS_COUNTED, /* argument `first` holds a number, that many keys follow it; a destination key
                     may stand at argument `last` (0: none): ZUNIONSTORE, EVAL, LMPOP */
    KEYS_STREAMS, /* the first half of what follows the word STREAMS: XREAD, XREADGROUP */
    KEYS_SORT,    /* SORT: argument 1, and the one after STORE; BY and GET patterns are refused */
    KEYS_GEO,     /* GEORADIUS: argument 1, and the one after STORE or STOREDIST */
};

enum command_flags {
    COMMAND_READ = 1 << 0,
    COMMAND_WRITE = 1 << 1,
    COMMAND_FAST = 1 << 2,
    COMMAND_BLOCKING = 1 << 3, /* may wait (command_wait.h), so it takes a connection of its own */
    COMMAND_EMBEDDED = 1 << 4, /* embedded nodes answer it too */
    COMMAND_DENYOOM = 1 << 5,
    COMMAND_ADMIN = 1 << 6,
};

struct command {
    const char *name; /* upper case */
    int16_t arity;    /* as Redis counts: the name included; negative: at least */
    uint16_t flags;   /* enum command_flags */
    enum command_route route;
    enum command_merge merge;
    enum command_keys keys;
    int8_t first, last, step; /* of KEYS_RANGE and KEYS_COUNTED, counted from the name at 0 */
    uint16_t id;              /* its row: enum command_id */
    const char *group;        /* "string", "hash", … as COMMAND DOCS names them */
    const char *since;        /* the Redis version that brought it */
    const char *summary;      /* one line of our own; of a refused command, the reason: it completes
                                 "NAME is not available through the router: ..." */
};

/* CMD_GET, CMD_SET, … one for each row of the table, in its order. */
enum command_id {
#define COMMAND(id, ...) CMD_##id,
#include "wire/commands.def"
#undef COMMAND
    COMMAND_COUNT
};

/* The command of this name in any case, or NULL. O(1). Safe in any number of threads. */
const struct command *command_find(const char *name, size_t name_len);
/* The commands there are, declared ones last: command_by_id() knows 0 .. command_count()-1. */
size_t command_count(void);
const struct command *command_by_id(enum command_id id);

/* Whether a number of arguments (name included) fits. */
static inline bool command_arity_fits(const struct command *command, uint32_t arg_count)
{
    return command->arity >= 0 ? arg_count == (uint32_t)command->arity
                               : arg_count >= (uint32_t)-command->arity;
}

/* Which arguments of a request are keys. */
struct command_key_range {
    uint32_t first; /* argument number of the first key */
    uint32_t count; /* how many keys, every `step` arguments */
    uint32_t step;
    uint32_t extra; /* one more key at this argument number; 0: none */
};

/* Finds the keys of a request whose arity fits. NULL when all is well, else why not (a sentence for
 * the client, without "ERR"; static storage): a key count that is no number or too large, odd
 * arguments of MSET, SORT with BY or GET. A count of 0 without extra is well too:
 * EVAL without keys, OBJECT HELP; any node may answer. *ret_keys is undefined on error. O(1) but
 * for the kinds that have to be read: KEYS_STREAMS, KEYS_SORT, KEYS_GEO. */
const char *command_find_keys(const struct command *command, const struct resp_request *request,
                              const char *bytes, struct command_key_range *ret_keys);

/* A module's command, declared in the configuration: keys by range, group "module". The name is the
 * caller's and must outlive the table. Not thread-safe: call before the workers start. False when
 * the table is full (256), the name is known, empty or over 64 bytes, or the numbers make no sense
 * (arity 0, first or step below 1, a last before first). */
bool command_declare(const char *name, int16_t arity, int8_t first, int8_t last, int8_t step,
                     bool is_write);

#endif
