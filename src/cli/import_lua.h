/*
 * The literal part of a Lua text: strings, numbers, tables and calls whose arguments are literal,
 * as people write them in configurations. Nothing is run. Whatever would have to be run (operators,
 * functions, tables that are filled later) is a value of the kind LUA_UNKNOWN.
 */
#ifndef CLI_IMPORT_LUA_H
#define CLI_IMPORT_LUA_H

#include "cli/import.h"

enum { LUA_DEPTH_MAX = 32 };

enum lua_kind {
    LUA_UNKNOWN,
    LUA_STRING, /* text */
    LUA_WORD,   /* text: a number, true, false, nil, or a name that was given no value here */
    LUA_TABLE,  /* entries */
    LUA_CALL,   /* text: what is called; entries: its arguments */
};

struct lua_value {
    enum lua_kind kind;
    unsigned line;
    const char *text;
    struct lua_entry *first, *last;
};

struct lua_entry {
    const char *key; /* NULL: the next number */
    struct lua_value *value;
    struct lua_entry *next;
};

/* Called for every call that stands outside another value, and for every one that is assigned:
 * `name` is what it is assigned to, or "". */
typedef void lua_call_fn(void *user, const char *name, const struct lua_value *call);

/* Reads the whole text. After a remark (a string or comment without its end, too deep tables) it
 * ends early. */
void lua_read(struct import *import, lua_call_fn *on_call, void *user);

/* The value of a key in a table, or NULL. */
const struct lua_value *lua_find(const struct lua_value *table, const char *key);
/* The text of a string or word; "" for everything else and NULL. */
const char *lua_text(const struct lua_value *value);

#endif
