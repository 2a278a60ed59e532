/*
 * The map store: where the maps of the pools and their transitions are kept, so that all routers
 * agree and a restart goes on where it was. An interface; control/map_store_file.c is the one in a
 * local folder, etcd comes later.
 *
 * A pool's record changes by compare-and-set on its revision only. It is put before what it says is
 * done (a router acts on what is stored, never on what it wishes), so that after a crash the record
 * is never behind the workers.
 */
#ifndef MOVE_MAP_STORE_H
#define MOVE_MAP_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <clockwise/clockwise.h>

#include "move/throttle.h"

enum transition_state {
    TRANSITION_STABLE,   /* none */
    TRANSITION_PREPARED, /* nodes are looked at, connected, cleared of residue */
    TRANSITION_TRACKING, /* writes are marked; keys are copied */
    TRANSITION_FROZEN,   /* writes of moving keys wait for the last marks to be copied */
    TRANSITION_SWITCHED, /* the new map is the map; the routers take it up */
    TRANSITION_CLEANING, /* old owners are cleared of what moved away */
    TRANSITION_ABORTING, /* cancelled: the targets are cleared of what was copied */
};

enum { TRANSITION_STATE_COUNT = TRANSITION_ABORTING + 1 };

enum transition_kind {
    TRANSITION_CHANGE,  /* nodes, weights or placement: keys are copied */
    TRANSITION_REPLACE, /* a node's address: its keys are copied from the old one to the new */
    TRANSITION_DEAD,    /* a node is given up: its keys get new owners, nothing can be copied from
                           it */
};

enum { TRANSITION_WHO_SIZE = 128, TRANSITION_NOTE_SIZE = 400, TRANSITION_NODES_MAX = 1024 };

/* A transition as it is stored. */
struct transition_info {
    uint64_t id;      /* of the pool; never used again */
    uint32_t attempt; /* how often it was begun anew; part of the dirty sets' names */
    enum transition_kind kind;
    enum transition_state state;
    bool is_paused, is_deep;         /* deep: everything is compared before the switch */
    bool may_purge;                  /* what stands on a new node may be removed */
    bool no_copy;                    /* REPLACE: the new address has the data already */
    char dead_id[CW_ID_LEN_MAX + 1]; /* DEAD: the node given up */
    struct throttle_settings throttle;
    struct cw_map *from, *to;
    uint64_t reached_ms[TRANSITION_STATE_COUNT]; /* wall clock; 0: not reached */
    uint64_t keys_moved, bytes_moved, held_us;
    char who[TRANSITION_WHO_SIZE];   /* asked for it: "admin 127.0.0.1:53122", a user's name */
    char what[TRANSITION_NOTE_SIZE]; /* in words: "add cache-4", "drain cache-2" */
    char
        note[TRANSITION_NOTE_SIZE]; /* why it paused, was cancelled, or began anew; "" if nothing */
};

struct map_record {
    uint64_t revision;        /* 0: there is none; each put makes it one more */
    struct cw_map *map;       /* who owns the keys now */
    uint64_t next_transition; /* id of the next one: 1 at first */
    const char *engine;       /* "redis", "embedded": a pool never changes it */
    const char *const *burnt; /* ids of nodes that were declared dead: never used again */
    size_t burnt_count;
    const struct transition_info *transition; /* NULL: STABLE */
};

/* How a put ended: 0; -ESTALE: the stored revision is another one than record->revision (another
 * router, a restored backup): nothing was written; or the errno of what failed (-ENOSPC, ...), with
 * a sentence that names the file and the remedy. */
typedef void (*map_store_done)(void *context, int status, const char *problem);

struct map_store {
    const struct map_store_ops *ops;
};

struct map_store_ops {
    /* Reads a pool's record. 0 and a record that is the caller's (map_record_destroy()), -ENOENT,
     * or an errno with a sentence. May block: called at the start only. */
    int (*load)(struct map_store *store, const char *pool, struct map_record **ret_record,
                char *ret_problem, size_t problem_size);
    /* Stores a record if the stored one still has record->revision; its own becomes that + 1. Adds
     * a line to the journal when the transition's state changed. Copies what it needs before it
     * returns; `done` is called from the loop that the store was made with, never before. */
    void (*put)(struct map_store *store, const char *pool, const struct map_record *record,
                map_store_done done, void *context);
    void (*close)(struct map_store *store);
};

/* A record with memory and references of its own, or NULL when memory is out. */
struct map_record *map_record_copy(const struct map_record *record);
/* Frees a record that load() or map_record_copy() made, with its references. Nulls the pointer;
 * NULL is fine. */
void map_record_destroy(struct map_record **record);

/* "tracking"; static storage. */
const char *transition_state_name(enum transition_state state);
/* -1 when there is none of this name. */
int transition_state_find(const char *name);
/* "change", "replace", "dead". */
const char *transition_kind_name(enum transition_kind kind);
int transition_kind_find(const char *name);

#endif
