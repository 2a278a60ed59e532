/*
 * The commands that an embedded node answers: one row each, a function that executes it and how the
 * store is used. The table in call.c and the prototypes here are made of this list.
 */
#ifndef STORE_HANDLERS_H
#define STORE_HANDLERS_H

#include "store/call.h"

/* HANDLER(command, function, mode): STORE_READ, STORE_WRITE, STORE_FREE, or -1 for no store. */
#define HANDLER_LIST(HANDLER)                                                                      \
    /* cmd_string.c */                                                                             \
    HANDLER(GET, cmd_get, STORE_READ)                                                              \
    HANDLER(GETSET, cmd_getset, STORE_WRITE)                                                       \
    HANDLER(GETDEL, cmd_getdel, STORE_FREE)                                                        \
    HANDLER(STRLEN, cmd_strlen, STORE_READ)                                                        \
    HANDLER(APPEND, cmd_append, STORE_WRITE)                                                       \
    HANDLER(GETRANGE, cmd_getrange, STORE_READ)                                                    \
    HANDLER(SUBSTR, cmd_getrange, STORE_READ)                                                      \
    HANDLER(SETRANGE, cmd_setrange, STORE_WRITE)                                                   \
    HANDLER(MGET, cmd_mget, STORE_READ)                                                            \
    HANDLER(MSET, cmd_mset, STORE_WRITE)                                                           \
    HANDLER(MSETNX, cmd_msetnx, STORE_WRITE)                                                       \
    /* cmd_set.c */                                                                                \
    HANDLER(SET, cmd_set, STORE_WRITE)                                                             \
    HANDLER(SETNX, cmd_setnx, STORE_WRITE)                                                         \
    HANDLER(SETEX, cmd_setex, STORE_WRITE)                                                         \
    HANDLER(PSETEX, cmd_psetex, STORE_WRITE)                                                       \
    HANDLER(GETEX, cmd_getex, STORE_WRITE)                                                         \
    /* cmd_number.c */                                                                             \
    HANDLER(INCR, cmd_incr, STORE_WRITE)                                                           \
    HANDLER(DECR, cmd_decr, STORE_WRITE)                                                           \
    HANDLER(INCRBY, cmd_incrby, STORE_WRITE)                                                       \
    HANDLER(DECRBY, cmd_decrby, STORE_WRITE)                                                       \
    HANDLER(INCRBYFLOAT, cmd_incrbyfloat, STORE_WRITE)                                             \
    /* cmd_keys.c */                                                                               \
    HANDLER(DEL, cmd_del, STORE_FREE)                                                              \
    HANDLER(UNLINK, cmd_del, STORE_FREE)                                                           \
    HANDLER(EXISTS, cmd_exists, STORE_READ)                                                        \
    HANDLER(TOUCH, cmd_exists, STORE_READ)                                                         \
    HANDLER(TYPE, cmd_type, STORE_READ)                                                            \
    HANDLER(RENAME, cmd_rename, STORE_WRITE)                                                       \
    HANDLER(RENAMENX, cmd_rename, STORE_WRITE)                                                     \
    HANDLER(COPY, cmd_copy, STORE_WRITE)                                                           \
    HANDLER(DBSIZE, cmd_dbsize, STORE_READ)                                                        \
    HANDLER(FLUSHALL, cmd_flush, STORE_FREE)                                                       \
    HANDLER(FLUSHDB, cmd_flush, STORE_FREE)                                                        \
    /* cmd_expire.c */                                                                             \
    HANDLER(EXPIRE, cmd_expire, STORE_WRITE)                                                       \
    HANDLER(PEXPIRE, cmd_expire, STORE_WRITE)                                                      \
    HANDLER(EXPIREAT, cmd_expire, STORE_WRITE)                                                     \
    HANDLER(PEXPIREAT, cmd_expire, STORE_WRITE)                                                    \
    HANDLER(PERSIST, cmd_persist, STORE_WRITE)                                                     \
    HANDLER(TTL, cmd_ttl, STORE_READ)                                                              \
    HANDLER(PTTL, cmd_ttl, STORE_READ)                                                             \
    HANDLER(EXPIRETIME, cmd_ttl, STORE_READ)                                                       \
    HANDLER(PEXPIRETIME, cmd_ttl, STORE_READ)                                                      \
    /* cmd_scan.c */                                                                               \
    HANDLER(SCAN, cmd_scan, STORE_READ)                                                            \
    HANDLER(KEYS, cmd_keys, STORE_READ)                                                            \
    HANDLER(RANDOMKEY, cmd_randomkey, STORE_READ)                                                  \
    /* cmd_dump.c */                                                                               \
    HANDLER(DUMP, cmd_dump, STORE_READ)                                                            \
    HANDLER(RESTORE, cmd_restore, STORE_WRITE)                                                     \
    HANDLER(MEMORY, cmd_memory, STORE_READ)                                                        \
    /* cmd_marks.c */                                                                              \
    HANDLER(SADD, cmd_sadd, HANDLER_NO_STORE)                                                      \
    HANDLER(SREM, cmd_srem, HANDLER_NO_STORE)                                                      \
    HANDLER(SPOP, cmd_spop, HANDLER_NO_STORE)                                                      \
    HANDLER(SCARD, cmd_scard, HANDLER_NO_STORE)                                                    \
    HANDLER(SISMEMBER, cmd_sismember, HANDLER_NO_STORE)                                            \
    /* cmd_session.c */                                                                            \
    HANDLER(AUTH, cmd_auth, HANDLER_NO_STORE)                                                      \
    HANDLER(PING, cmd_ping, HANDLER_NO_STORE)                                                      \
    HANDLER(ECHO, cmd_echo, HANDLER_NO_STORE)                                                      \
    HANDLER(HELLO, cmd_hello, HANDLER_NO_STORE)                                                    \
    HANDLER(SELECT, cmd_select, HANDLER_NO_STORE)                                                  \
    HANDLER(CLIENT, cmd_client, HANDLER_NO_STORE)                                                  \
    HANDLER(COMMAND, cmd_command, HANDLER_NO_STORE)                                                \
    HANDLER(TIME, cmd_time, HANDLER_NO_STORE)                                                      \
    HANDLER(RESET, cmd_reset, HANDLER_NO_STORE)                                                    \
    HANDLER(QUIT, cmd_quit, HANDLER_NO_STORE)                                                      \
    /* cmd_info.c */                                                                               \
    HANDLER(INFO, cmd_info, HANDLER_NO_STORE)

enum { HANDLER_NO_STORE = -1 };

typedef void (*call_handler)(struct call *call);

#define HANDLER_PROTOTYPE(id, function, mode) void function(struct call *call);
HANDLER_LIST(HANDLER_PROTOTYPE)
#undef HANDLER_PROTOTYPE

#endif
