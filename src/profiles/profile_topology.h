/*
 * What a cluster says of itself, read into nodes and the ranges or tokens that they own. Where the
 * owner of a slot or a token cannot be computed, this text is the placement.
 *
 * The texts come from commands that people run: CLUSTER NODES and CLUSTER SLOTS (as redis-cli
 * prints them, for people or raw), nodetool ring, and a plain table of
 * "address datacenter rack token,token,...". Lines may end in CRLF, and a byte-order mark is
 * skipped.
 */
#ifndef PROFILES_PROFILE_TOPOLOGY_H
#define PROFILES_PROFILE_TOPOLOGY_H

#include <clockwise/profile.h>

struct profile_topology_node {
    const char *address, *datacenter, *rack;
};

struct profile_range {
    int64_t first, last; /* of slots; a token is both */
    uint32_t node;
};

struct profile_topology {
    char *text; /* a copy, cut into the strings of the nodes */
    struct profile_topology_node *nodes;
    size_t node_count, node_room;
    uint32_t *index; /* open addressing by the hash of an address; numbers of nodes plus 1 */
    size_t index_size;
    struct profile_range *ranges;
    size_t range_count, range_room;
};

int profile_topology_redis(struct profile_topology *topology, const char *text, size_t len,
                           struct cw_error *error);
int profile_topology_cassandra(struct profile_topology *topology, const char *text, size_t len,
                               struct cw_error *error);
void profile_topology_fini(struct profile_topology *topology);

/* For the readers. A copy of the text that ends in a zero; its first line. */
int profile_topology_begin(struct profile_topology *topology, const char *text, size_t len,
                           char **ret_at, struct cw_error *error);
/* Cuts the next line off, without its end; NULL behind the last. */
char *profile_topology_line(char **at);
/* Cuts the next word off; NULL behind the last. */
char *profile_topology_word(char **line);
/* The number of the node of this address, which is added if it is new. */
int profile_topology_node(struct profile_topology *topology, const char *address,
                          uint32_t *ret_node, struct cw_error *error);
int profile_topology_range(struct profile_topology *topology, int64_t first, int64_t last,
                           uint32_t node, struct cw_error *error);
/* A whole decimal number; 0 if it is none. */
int profile_topology_number(const char *text, int64_t *ret_number);
int profile_topology_bad(struct cw_error *error, unsigned line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
