/*
 * From what a person wants of a pool to the change that the mover is asked for: a comparison of the
 * map with the wish, and all that can be refused without asking any node. Pure.
 */
#ifndef CONTROL_CHANGE_CHECK_H
#define CONTROL_CHANGE_CHECK_H

#include "control/change_request.h"
#include "move/map_store.h"

struct change {
    bool is_change; /* false: the pool is already as it is wanted; the rest says nothing then */
    enum transition_kind kind;
    struct cw_node *nodes; /* of the new map; texts are the map's, the request's, or `addresses` */
    size_t count;
    int placement;       /* enum cw_placement to change to; negative: the same */
    struct cw_map *to;   /* the new map, made for another placement; NULL: what follows with `nodes`
                          */
    const char *dead_id; /* NULL unless DEAD */
    char **addresses;    /* of embedded nodes that come; address_count of them */
    size_t address_count;
    char what[TRANSITION_NOTE_SIZE]; /* "add cache-4, drain cache-2" */
};

struct change_pool {
    const char *name;
    bool is_embedded;
    const struct cw_map *map;
};

/* False with a reason and a remedy. What is filled is valid while map and request live. O(nodes log
 * nodes), and making a map of another placement. */
bool change_make(const struct change_pool *pool, const struct change_request *request,
                 struct change *ret_change, struct change_problem *ret_problem);
void change_release(struct change *change);

#endif
