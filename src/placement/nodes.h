/*
 * The nodes of a map: validated, copied, sorted by id, with what placements need of each.
 */
#ifndef PLACEMENT_NODES_H
#define PLACEMENT_NODES_H

#include "placement/rank.h"

#include <clockwise/clockwise.h>

struct nodes {
    struct cw_node *list;   /* in the byte order of ids; the strings lie in text */
    struct rank_node *rank; /* the same order; the id's hash and the weight */
    uint32_t *zones;        /* zone numbers; a node without a zone has one of its own */
    char *text;
    size_t text_size;
    uint64_t weight_sum;
    uint32_t count;
    uint32_t zone_count;
    int weights_equal;
};

/* Fills *nodes, which need not be initialised. On failure nothing is kept and *ret_bad is the
 * position in the given list of the node that is to blame (count when it is none). */
int nodes_init(struct nodes *nodes, const struct cw_node *given, size_t count, size_t *ret_bad,
               struct cw_error *error);
void nodes_fini(struct nodes *nodes);

/* CW_NO_NODE when there is none. */
uint32_t nodes_find(const struct nodes *nodes, const char *id);

static inline uint64_t node_hash(const struct nodes *nodes, uint32_t index)
{
    return (uint64_t)nodes->rank[index].a << 32 | nodes->rank[index].b;
}

size_t nodes_memory(const struct nodes *nodes);

#endif
