/*
 * libclockwise: where does a key live, and what moves when the nodes change?
 *
 * A map (struct cw_map) is an immutable, numbered description of a pool: its nodes with their
 * weights and zones, the placement, and whatever state the placement keeps. Build one, ask it,
 * compare two. Nothing here does I/O, reads a clock, logs, or keeps global state; a map may be
 * read from any number of threads at once. Mapping functions use integers only, so every machine
 * gives the same answers, and the order in which nodes are given never matters.
 *
 * Errors: functions return CW_OK or a negative enum cw_status, and where they take a
 * struct cw_error they fill it with a sentence that names the thing and the remedy. Nothing aborts
 * and nothing prints. Out-parameters come last and are written only on success.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLOCKWISE_CLOCKWISE_H
#define CLOCKWISE_CLOCKWISE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CW_API __attribute__((visibility("default")))
#else
#define CW_API
#endif

#define CW_VERSION_MAJOR 0
#define CW_VERSION_MINOR 1
#define CW_VERSION_PATCH 0

/* ---- status ---------------------------------------------------------------------------------- */

/* Every status: its name, number and what a person reads. */
#define CW_STATUS_LIST(X)                                                                          \
    X(OK, 0, "ok")                                                                                 \
    X(EINVAL, -1, "invalid argument")                                                              \
    X(ENOMEM, -2, "out of memory")                                                                 \
    X(ENO_NODES, -3, "a map needs at least one node")                                              \
    X(ETOO_MANY_NODES, -4, "too many nodes")                                                       \
    X(EDUPLICATE_ID, -5, "two nodes have the same id")                                             \
    X(EBAD_ID, -6, "a node id is empty, too long or has characters that are not allowed")          \
    X(EBAD_WEIGHT, -7, "a weight is out of range")                                                 \
    X(EBAD_ZONE, -8, "a zone name is too long or has characters that are not allowed")             \
    X(EBAD_ADDRESS, -9, "an address is too long or has characters that are not allowed")           \
    X(EBAD_SLOTS, -10, "the number of slots is not a power of two in range")                       \
    X(EBAD_TOKENS, -11, "the number of tokens is out of range")                                    \
    X(EBAD_TEXT, -12, "not a map in its text form")                                                \
    X(EBAD_KEY, -13, "an unknown or repeated key in a map's text form")                            \
    X(ENO_SUCH_NODE, -14, "no such node")                                                          \
    X(ENOT_SUPPORTED, -15, "the placement cannot do this")                                         \
    X(EBAD_TABLE, -16, "the size of the table is not a prime in range")                            \
    X(EIO, -17, "reading or writing failed")                                                       \
    X(ECORRUPT, -18, "what was read is damaged or not what it should be")                          \
    X(EFULL, -19, "no room is left")                                                               \
    X(ENOT_FOUND, -20, "no such key")

enum cw_status {
#define CW_STATUS_ENUM(name, number, text) CW_##name = number,
    CW_STATUS_LIST(CW_STATUS_ENUM)
#undef CW_STATUS_ENUM
};

/* What went wrong, for a person: message names the thing and the remedy; line and column (from 1)
 * are set when the error is in a text, and 0 otherwise. */
struct cw_error {
    enum cw_status status;
    unsigned line, column;
    char message[248];
};

/* "CW_EINVAL"; "CW_UNKNOWN" for a number that is none. Static storage. */
CW_API const char *cw_status_name(enum cw_status status);
/* "invalid argument". Static storage. */
CW_API const char *cw_status_message(enum cw_status status);

/* ---- hashing keys ---------------------------------------------------------------------------- */

/* The hash that places keys: XXH3, 64 bits, seed 0. Everything below takes its high bits. */
CW_API uint64_t cw_hash(const void *key, size_t key_len);

/* The part of a key that is hashed under Redis's hash tag rule: what stands between the first '{'
 * and the first '}' behind it, if that is not empty; else the whole key. Never copies. */
CW_API const char *cw_hash_tag(const char *key, size_t key_len, size_t *ret_len);

/* cw_hash() of cw_hash_tag(). */
CW_API uint64_t cw_hash_tagged(const char *key, size_t key_len);

/* ---- nodes and maps -------------------------------------------------------------------------- */

#define CW_NODE_COUNT_MAX    100000u
#define CW_ID_LEN_MAX        63u  /* bytes; letters, digits and . _ - : @ / [ ] */
#define CW_ADDRESS_LEN_MAX   255u /* bytes, printable ASCII without space and quotes */
#define CW_WEIGHT_MAX        1000000u
#define CW_SLOT_COUNT_MIN    64u
#define CW_SLOT_COUNT_MAX    (1u << 24)
#define CW_SLOT_COUNT        16384u /* unless set */
#define CW_TOKENS_PER_WEIGHT 160u   /* unless set */
#define CW_TABLE_SIZE_MIN    251u
#define CW_TABLE_SIZE_MAX    (1u << 26)
#define CW_REPLICA_COUNT_MAX 16u
#define CW_NO_NODE           UINT32_MAX

/* A server. The id is its identity: a new address moves no key. Strings belong to the caller when
 * given, to the map when returned; zone and address may be NULL or "" (none). */
struct cw_node {
    const char *id;
    const char *address;
    const char *zone;
    uint32_t weight; /* 1 .. CW_WEIGHT_MAX; shares are in proportion to it */
};

/* The rules from key hash to node. The numbers are part of no format; names are. */
enum cw_placement {
    CW_PLACEMENT_SLOTS,      /* "slots": a table of equal arcs, changed by a sticky planner */
    CW_PLACEMENT_RING,       /* "ring": tokens in proportion to weight, first one clockwise */
    CW_PLACEMENT_RENDEZVOUS, /* "rendezvous": every node draws, the best draw wins; no state */
    CW_PLACEMENT_JUMP,       /* "jump": Lamping and Veach's, bit for bit; numbered nodes */
    CW_PLACEMENT_JUMPBACK,   /* "jumpback": the same contract, faster, any node may go */
    CW_PLACEMENT_MAGLEV,     /* "maglev": a table of prime size filled in turns */
    CW_PLACEMENT_ROUND,      /* "round": round-hashing; one contiguous range a node */
    CW_PLACEMENT_MODULO,     /* "modulo": hash % nodes, what consistent hashing is not */
    CW_PLACEMENT_PROFILE,    /* "profile": another system's rule, on keys; see profile.h */
};

/* What a placement can do besides placing keys on nodes of equal weight. */
enum cw_capability {
    CW_CAN_WEIGHTS = 1,    /* nodes of different weights */
    CW_CAN_REMOVE_ANY = 2, /* removing any node; otherwise only the one that was added last */
    CW_CAN_REPLICAS = 4,   /* cw_locate_n() of more than one */
    CW_CAN_RANGES = 8,     /* nodes own ranges of the hash space: exact plans, cw_map_range_at() */
};

/* The cw_capability bits of a placement; 0 for a number that is none. What a placement cannot do
 * is refused with CW_ENOT_SUPPORTED. */
CW_API unsigned cw_placement_capabilities(enum cw_placement placement);

/* "slots"; NULL for a number that is none. Static storage. */
CW_API const char *cw_placement_name(enum cw_placement placement);
/* The placement of this name, or CW_EINVAL. */
CW_API int cw_placement_find(const char *name, enum cw_placement *ret_placement);

struct cw_profile;
struct cw_profile_options;

/* What a map is made of. Zero means "the default" for every number. */
struct cw_map_options {
    enum cw_placement placement;
    const struct cw_node *nodes; /* in any order, but with a profile in that of the system's own
                                    configuration; copied */
    size_t node_count;           /* 1 .. CW_NODE_COUNT_MAX */
    uint64_t generation;         /* 1 unless set */
    uint32_t slot_count;         /* slots only: a power of two; fixed for the pool's life */
    uint32_t tokens_per_weight;  /* ring only: 1 .. 65536 */
    uint32_t table_size;         /* maglev only: a prime; unless set, one of more than 100 places
                                    a node. Kept when the map changes */
    uint32_t no_vectors;         /* 1: batches use portable code only. The answers are the same:
                                    for tests and comparisons */
    const struct cw_profile *profile; /* profile only, and needed there */
    /* Profile only; NULL: the system's own settings. Its nodes say how the system writes each of
     * `nodes`, in the same order; without them that is the address (the id where there is none) and
     * the weight. A node in it without an address is written like that too. */
    const struct cw_profile_options *profile_options;
};

struct cw_map;

/* A new map from nothing but its options: the same options give the same map everywhere.
 * error may be NULL. The caller owns one reference. Cost: slots O(slot_count * node_count), ring
 * O(tokens). */
CW_API int cw_map_create(const struct cw_map_options *options, struct cw_map **ret_map,
                         struct cw_error *error);

/* The map that follows another one when its nodes become `nodes`: generation + 1, everything else
 * as in `from`. With slots the sticky planner moves exactly as many slots as it must, and the
 * result depends on `from`. jump, jumpback and round number their nodes: old nodes keep their
 * numbers, new ones get the lowest that are free; jump and round refuse (CW_ENOT_SUPPORTED) the
 * removal of another node than those with the highest numbers. With a profile the old nodes keep
 * their order and what is hashed of them, whatever their new address is, and new ones stand at the
 * end. With the other placements it is what cw_map_create() gives. */
CW_API int cw_map_change(const struct cw_map *from, const struct cw_node *nodes, size_t node_count,
                         struct cw_map **ret_map, struct cw_error *error);

CW_API struct cw_map *cw_map_ref(struct cw_map *map);
/* Drops a reference and nulls the caller's pointer; NULL and pointers to NULL are fine. */
CW_API void cw_map_unref(struct cw_map **map);

/* The canonical text of a map: JSON, one form for one map, so that equal maps are equal bytes.
 * The caller frees *ret_text with free(). */
CW_API int cw_map_to_text(const struct cw_map *map, char **ret_text, size_t *ret_len);
/* Reads it back, validating everything; the error has line and column. */
CW_API int cw_map_from_text(const char *text, size_t text_len, struct cw_map **ret_map,
                            struct cw_error *error);

CW_API uint64_t cw_map_generation(const struct cw_map *map);
CW_API enum cw_placement cw_map_placement(const struct cw_map *map);
/* The name for people: of the profile, where there is one, else of the placement. */
CW_API const char *cw_map_placement_name(const struct cw_map *map);
CW_API uint32_t cw_map_slot_count(const struct cw_map *map); /* 0 unless slots */
CW_API uint32_t cw_map_node_count(const struct cw_map *map);
/* Nodes are numbered 0 .. node_count-1 in the byte order of their ids. NULL when out of range. */
CW_API const struct cw_node *cw_map_node(const struct cw_map *map, uint32_t index);
/* The number of a node, or CW_NO_NODE. O(log n). */
CW_API uint32_t cw_map_find_node(const struct cw_map *map, const char *id);
/* The part of the hash space that a node owns, 0 .. 1: exact up to rounding where the placement has
 * ranges, elsewhere what it promises on average. O(1). */
CW_API double cw_map_share(const struct cw_map *map, uint32_t index);
/* The part that it should own: weight / sum of weights. O(1). */
CW_API double cw_map_ideal_share(const struct cw_map *map, uint32_t index);
/* The owner of a hash and the last hash of the range around it that has the same owner as far as
 * the placement knows (neighbouring ranges may have one owner too). CW_ENOT_SUPPORTED without
 * CW_CAN_RANGES. To walk all of the hash space start at 0 and go on at *ret_last + 1. */
CW_API int cw_map_range_at(const struct cw_map *map, uint64_t hash, uint32_t *ret_node,
                           uint64_t *ret_last);
/* The one range that a node owns, where it is always one: only with round. O(1). */
CW_API int cw_map_node_range(const struct cw_map *map, uint32_t index, uint64_t *ret_first,
                             uint64_t *ret_last);
/* Bytes of memory that the map keeps. */
CW_API size_t cw_map_memory(const struct cw_map *map);

/* ---- locating -------------------------------------------------------------------------------- */

/* The number of the node that owns a hash (see cw_hash(), cw_hash_tagged()). Never fails, except
 * with a profile, which places keys and no hashes: CW_NO_NODE. One or two loads. */
CW_API uint32_t cw_locate(const struct cw_map *map, uint64_t hash);

/* The k owners of a hash in rank order: distinct nodes, and in distinct zones while there are
 * enough zones (a node without a zone counts as a zone of its own); the first is cw_locate()'s.
 * Writes min(k, nodes) numbers and returns how many: at most CW_REPLICA_COUNT_MAX, and at most 1
 * without CW_CAN_REPLICAS. */
CW_API size_t cw_locate_n(const struct cw_map *map, uint64_t hash, size_t k, uint32_t *ret_nodes);

/* cw_locate() of many hashes, the fastest way: ret_nodes[i] is the owner of hashes[i]. */
CW_API void cw_locate_batch(const struct cw_map *map, const uint64_t *hashes, size_t count,
                            uint32_t *ret_nodes);

/* The number of the node that owns a key: works with every map. Maps that place hashes take
 * cw_hash_tagged() of it; a profile takes the whole key and its own rule, and may have no place for
 * it (CW_NO_NODE: see cw_profile_locate()). The bytes need no end mark; key may be NULL when
 * key_len is 0. Cost: hashing the key, and as cw_locate(). */
CW_API uint32_t cw_locate_key(const struct cw_map *map, const void *key, size_t key_len);
/* The same for many keys, the fastest way: ret_nodes[i] is that of keys[i]. */
CW_API void cw_locate_keys(const struct cw_map *map, const void *const *keys,
                           const size_t *key_lens, size_t count, uint32_t *ret_nodes);
/* cw_locate_n() of a key. With a profile: the system's replicas, where it has some, in its order,
 * else the one owner; 0 where there is none. */
CW_API size_t cw_locate_key_n(const struct cw_map *map, const void *key, size_t key_len, size_t k,
                              uint32_t *ret_nodes);

/* Bounded load (Mirrokni, Thorup and Zadimoghaddam 2016): what nodes carry now, in any unit. */
struct cw_load {
    const uint64_t *loads;   /* by node number */
    uint64_t total;          /* their sum, which the caller keeps */
    uint32_t slack_permille; /* how far above its share a node may go: 250 is a quarter */
};

/* The owner of a hash, unless it already carries (1 + slack) times its share of the total; then the
 * best of the nodes that do not, by rendezvous ranking of the hash, so that the overflow of one
 * node spreads over all others. There always is one. Works with every placement but profiles, where
 * it ranks alone. Two routers with
 * different figures may disagree: for caches and stateless servers, not for stored data. Cost: as
 * cw_locate(), and O(nodes) for a hash whose owner is full. */
CW_API uint32_t cw_locate_bounded(const struct cw_map *map, uint64_t hash,
                                  const struct cw_load *load);

/* ---- plans: the difference of two maps ------------------------------------------------------- */

/* From one node to another. Numbers are those of the map named. */
struct cw_move {
    uint32_t from_node; /* in the old map */
    uint32_t to_node;   /* in the new map */
    double share;       /* of the whole hash space, 0 .. 1 */
    uint64_t range_count;
};

struct cw_plan;

/* Which hashes have another owner (by id) in `to` than in `from`, exactly. Keeps references to
 * both. CW_ENOT_SUPPORTED where a placement has no ranges. Between two profiles that hash keys
 * alike (cw_profile_same_positions()) it is which positions; a profile and another placement cannot
 * be compared so. Keys that have no place in one of the two do not move. Cost: O(ranges). */
CW_API int cw_plan_create(struct cw_map *from, struct cw_map *to, struct cw_plan **ret_plan);
/* The same for any two placements, from sample_count hashes drawn evenly, or generated keys where
 * there is a profile: shares are estimates, range_count is 0. Deterministic. sample_count is 1 ..
 * 2^32-1. */
CW_API int cw_plan_estimate(struct cw_map *from, struct cw_map *to, uint64_t sample_count,
                            struct cw_plan **ret_plan);
/* How far cw_plan_share() may be off: half the width of its 95 % interval; 0 when it is exact. */
CW_API double cw_plan_share_error(const struct cw_plan *plan);
CW_API void cw_plan_destroy(struct cw_plan **plan);
/* Moves in descending order of share, then by node ids. The array belongs to the plan. */
CW_API const struct cw_move *cw_plan_moves(const struct cw_plan *plan, size_t *ret_count);
/* The part of the hash space that moves, and the least that could have moved for this change of
 * weights: the sum of what the growing nodes gain. */
CW_API double cw_plan_share(const struct cw_plan *plan);
CW_API double cw_plan_ideal_share(const struct cw_plan *plan);
/* The part that moves between two nodes that are in both maps although the receiver's ideal share
 * did not grow, or the giver's did not shrink: movement that nobody needed. */
CW_API double cw_plan_needless_share(const struct cw_plan *plan);
/* 1 when a hash changes its owner, else 0; the owners' numbers in the two maps. Not with
 * profiles: 0 and CW_NO_NODE. */
CW_API int cw_plan_locate(const struct cw_plan *plan, uint64_t hash, uint32_t *ret_from,
                          uint32_t *ret_to);
/* The same of a key, with all maps. */
CW_API int cw_plan_locate_key(const struct cw_plan *plan, const void *key, size_t key_len,
                              uint32_t *ret_from, uint32_t *ret_to);

#ifdef __cplusplus
}
#endif

#endif
