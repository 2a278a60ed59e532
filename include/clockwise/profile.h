/*
 * Profiles: where other systems put a key, to the bit.
 *
 * A profile (struct cw_profile) is a row of a table: one placement of one system
 * ("twemproxy-ketama", "nginx-hash-consistent", ...). Given the fleet as that system's
 * configuration writes it, in that order, cw_profile_map_create() makes a struct cw_profile_map,
 * which answers for any key which server that system would have asked. So keys can be found without
 * it, a fleet can move behind another router without a miss, and two fleets can be compared key by
 * key.
 *
 * A map is immutable and may be read from any number of threads at once. Nothing here does I/O,
 * reads a clock, logs, or keeps global state. Errors are as in clockwise.h: a negative
 * enum cw_status, and a struct cw_error (may be NULL) whose sentence names the thing and the
 * remedy. Out-parameters come last and are written only on success.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLOCKWISE_PROFILE_H
#define CLOCKWISE_PROFILE_H

#include <clockwise/clockwise.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the list -------------------------------------------------------------------------------- */

/* What a map of a profile can be told besides its nodes; bits of cw_profile.settings. */
enum cw_profile_setting {
    CW_PROFILE_HASH = 1 << 0,          /* options.hash */
    CW_PROFILE_TAG = 1 << 1,           /* options.tag */
    CW_PROFILE_STOP = 1 << 2,          /* options.stop */
    CW_PROFILE_SALT = 1 << 3,          /* options.salt */
    CW_PROFILE_SERVER_KEY = 1 << 4,    /* options.server_key */
    CW_PROFILE_POINTS = 1 << 5,        /* options.points */
    CW_PROFILE_SIZE = 1 << 6,          /* options.size */
    CW_PROFILE_SIZE_MAX = 1 << 7,      /* options.size_max */
    CW_PROFILE_LOAD = 1 << 8,          /* options.load */
    CW_PROFILE_REPLICATION = 1 << 9,   /* options.replication */
    CW_PROFILE_TOPOLOGY = 1 << 10,     /* options.topology */
    CW_PROFILE_UNSIGNED_CHAR = 1 << 11 /* options.unsigned_char */
};

/* One placement of one system. Static storage; only the library makes these. */
struct cw_profile {
    const char *name;     /* "twemproxy-ketama" */
    const char *family;   /* "twemproxy" */
    const char *rule;     /* the placement in a line */
    const char *versions; /* what it was checked against */
    const char *evidence; /* "real program", "test vectors" or "source": how it was checked */
    const char *limits;   /* what is not covered, and what surprises; "" if nothing */
    const char *hash;     /* the default of options.hash; "" where it cannot be chosen */
    uint32_t settings;    /* enum cw_profile_setting that it knows */
};

CW_API size_t cw_profile_count(void);
/* In the order of families; NULL when out of range. */
CW_API const struct cw_profile *cw_profile_at(size_t index);
/* By name; NULL when there is none. */
CW_API const struct cw_profile *cw_profile_find(const char *name);
/* The names that options.hash may have for this profile: the index-th, NULL behind the last. */
CW_API const char *cw_profile_hash_at(const struct cw_profile *profile, size_t index);

/* The name of one setting, as in options ("hash"), and what it is in a line; NULL for a number that
 * is none. Static storage. */
CW_API const char *cw_profile_setting_name(enum cw_profile_setting setting);
CW_API const char *cw_profile_setting_help(enum cw_profile_setting setting);

/* ---- maps ------------------------------------------------------------------------------------ */

/* A server as the system's configuration has it. Strings belong to the caller when given, to the
 * map when returned. */
struct cw_profile_node {
    /* "10.0.0.1:11211", "cache1", "[::1]:11211", "unix:/run/m.sock": the text itself matters, a
     * resolved or shortened address may be another place. */
    const char *address;
    /* The name that is hashed instead of the address, where the system has one (twemproxy's third
     * field, HAProxy's guid, Envoy's hash_key, Java's "host/ip:port"); NULL or "": none. */
    const char *name;
    double weight;   /* 1 where none is configured */
    uint32_t number; /* HAProxy's id; 0: none configured */
    int is_down;     /* marked as down in the configuration (nginx, HAProxy) */
};

/* What a map is made of. Zero and NULL mean the system's own default; a setting that the profile
 * does not know must stay so. */
struct cw_profile_options {
    const struct cw_profile_node *nodes; /* in the order of the configuration; copied */
    size_t node_count;
    const char *hash; /* the key's hash, by the system's name for it; see cw_profile_hash_at() */
    const char *tag;  /* two characters: only the part of the key between them is hashed */
    const char *stop; /* only the part of the key before this text is hashed */
    const char *salt; /* mcrouter's salt, the memcached proxy's seed */
    const char *server_key;  /* HAProxy's hash-key: id, id32, addr, addr-port, guid */
    uint32_t points;         /* points or virtual nodes a server or unit of weight */
    uint32_t size;           /* partitions, buckets, table or least ring size */
    uint32_t size_max;       /* greatest ring size */
    double load;             /* load factor */
    const char *replication; /* Cassandra: "3", or "dc1:3,dc2:2" */
    const char *topology;    /* what the cluster says of itself, instead of nodes */
    size_t topology_len;
    int unsigned_char; /* the system runs where plain char is unsigned (ARM) */
};

/* Sets one of the settings from text, by its name: "hash", "points", ...; numbers are converted,
 * texts are kept by pointer. An error names the settings that there are. */
CW_API int cw_profile_options_set(struct cw_profile_options *options, const char *name,
                                  const char *value, struct cw_error *error);

/* One of the settings as the text that cw_profile_options_set() reads; a number is written into
 * text. NULL where it is not given. */
CW_API const char *cw_profile_options_get(const struct cw_profile_options *options,
                                          enum cw_profile_setting setting, char text[32]);

struct cw_profile_map;

/* The caller owns one reference. Cost: the system's own points, sorted: a few ms for 1000 servers.
 */
CW_API int cw_profile_map_create(const struct cw_profile *profile,
                                 const struct cw_profile_options *options,
                                 struct cw_profile_map **ret_map, struct cw_error *error);
CW_API struct cw_profile_map *cw_profile_map_ref(struct cw_profile_map *map);
/* Drops a reference and nulls the caller's pointer; NULL and pointers to NULL are fine. */
CW_API void cw_profile_map_unref(struct cw_profile_map **map);

CW_API const struct cw_profile *cw_profile_map_profile(const struct cw_profile_map *map);
/* Nodes keep the numbers of the order in which they were given. Where a profile places on numbers
 * only (partitions, slots without a topology), node_count is their number and node() gives NULL. */
CW_API uint32_t cw_profile_map_node_count(const struct cw_profile_map *map);
CW_API const struct cw_profile_node *cw_profile_map_node(const struct cw_profile_map *map,
                                                         uint32_t index);
/* The settings that the map was made with, the system's defaults filled in: a map that is made of
 * them is the same. Texts are the map's; without nodes, and without a topology, which is not
 * kept. */
CW_API void cw_profile_map_settings(const struct cw_profile_map *map,
                                    struct cw_profile_options *ret_options);
/* The weight as the system takes it: 1 where it ignores weights, 0 for a node without keys. */
CW_API double cw_profile_map_weight(const struct cw_profile_map *map, uint32_t index);
/* The part of all keys that a node gets, 0 .. 1, read from the placement and exact up to rounding;
 * negative where there is nothing to read it from (rendezvous hashing and its kind). */
CW_API double cw_profile_map_share(const struct cw_profile_map *map, uint32_t index);
CW_API size_t cw_profile_map_memory(const struct cw_profile_map *map);

/* ---- locating -------------------------------------------------------------------------------- */

/* The node that holds a key, or CW_NO_NODE: the system has no fixed place for it (an empty key in
 * nginx, a slot without owner). Never fails otherwise. */
CW_API uint32_t cw_profile_locate(const struct cw_profile_map *map, const void *key,
                                  size_t key_len);
/* Many keys, faster: ret_nodes[i] is that of keys[i]. */
CW_API void cw_profile_locate_batch(const struct cw_profile_map *map, const void *const *keys,
                                    const size_t *key_lens, size_t count, uint32_t *ret_nodes);
/* The replicas of a key, at most k, in the system's order where it has replicas; otherwise the one
 * owner. Returns how many. */
CW_API size_t cw_profile_locate_n(const struct cw_profile_map *map, const void *key, size_t key_len,
                                  size_t k, uint32_t *ret_nodes);

/* ---- positions: for exact plans -------------------------------------------------------------- */

/* Where a key stands in the system's own space: the 32 or 64 bits that its ring is searched for,
 * its slot, its token (offset so that the least is 0). The same for all maps of which
 * cw_profile_same_positions() says so. */
CW_API uint64_t cw_profile_position(const struct cw_profile_map *map, const void *key,
                                    size_t key_len);
/* The greatest position; 0 where keys have no position that decides alone. */
CW_API uint64_t cw_profile_position_max(const struct cw_profile_map *map);
/* Whether a key has the same position in both, so that walking both by ranges compares them. */
CW_API int cw_profile_same_positions(const struct cw_profile_map *one,
                                     const struct cw_profile_map *other);
/* The owner of a position and the last position of a range around it that has this owner; where
 * there are no ranges (position_max 0), CW_NO_NODE and UINT64_MAX. */
CW_API uint32_t cw_profile_range_at(const struct cw_profile_map *map, uint64_t position,
                                    uint64_t *ret_last);

/* ---- pools that are placed by a profile ------------------------------------------------------ */

/*
 * A struct cw_map of CW_PLACEMENT_PROFILE (clockwise.h) is a profile's map whose nodes have ids:
 * cw_locate_key() answers with its own numbers of nodes, which go by id; the order of the system's
 * configuration is kept beside them. With a topology its servers must be among the nodes, found by
 * their addresses, and nodes that it does not name own nothing.
 */

/* The profile's map inside; NULL with another placement. Lives as long as the map. */
CW_API const struct cw_profile_map *cw_map_profile_map(const struct cw_map *map);
/* How the system writes a node, and its place in the system's order. Strings are the map's.
 * CW_ENOT_SUPPORTED with another placement, CW_ENO_SUCH_NODE. O(1). */
CW_API int cw_map_server(const struct cw_map *map, uint32_t index,
                         struct cw_profile_node *ret_server, uint32_t *ret_place);
/* cw_map_change() with what the system makes of each node (servers[i] of nodes[i]), for new names,
 * numbers and weights that are no whole numbers. */
CW_API int cw_map_change_servers(const struct cw_map *from, const struct cw_node *nodes,
                                 const struct cw_profile_node *servers, size_t node_count,
                                 struct cw_map **ret_map, struct cw_error *error);

#ifdef __cplusplus
}
#endif

#endif
