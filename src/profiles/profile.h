/*
 * The inside of profiles: what a row of the table says, and what a map is made of. A row is data
 * over a few engines (ring, table, jump, ...); what is peculiar to one system is an enum value here
 * and a few lines in the engine, not a program of its own.
 *
 * A map is written while it is built, by one thread, and read-only ever after but for the count of
 * references.
 */
#ifndef PROFILES_PROFILE_H
#define PROFILES_PROFILE_H

#include <clockwise/profile.h>

#include "placement/vectors.h"
#include "profiles/legacy_hash.h"

#include <stdatomic.h>

/* ---- parts of a rule ------------------------------------------------------------------------- */

/* Families of names for hashes: one name means different things to different systems. */
enum profile_hash_set {
    HASHES_LIBMEMCACHED = 1 << 0,
    HASHES_TWEMPROXY = 1 << 1,
    HASHES_HAPROXY = 1 << 2,
    HASHES_SPYMEMCACHED = 1 << 3,
    HASHES_MEMCACHED = 1 << 4, /* the proxy inside memcached */
    HASHES_ENVOY = 1 << 5,
    HASHES_GUAVA = 1 << 7,
    HASHES_PECL = 1 << 8,
    HASHES_STATHAT = 1 << 9,
    HASHES_PECL_STANDARD = 1 << 11,
    HASHES_OTHER = 1 << 12, /* one system each; found only by the row's own default */
};

struct profile_hash {
    const char *name;
    uint32_t sets;
    legacy_hash_fn *fn;          /* as on x86 */
    legacy_hash_fn *fn_unsigned; /* where plain char is unsigned; NULL: the same */
    unsigned bits; /* of the result, if they are so few that a ring of 32 bits would be crowded */
};

enum { PROFILE_BATCH = 64 }; /* so many keys go through a lookup together */

/* Hashes many keys at once, PROFILE_BATCH at most: as the function of one key does. */
typedef void profile_hash_batch_fn(enum vectors vectors, const void *const *keys,
                                   const size_t *lens, size_t count, uint64_t *ret_hashes);
/* The one for this function, or NULL (profile_hash_batch.c). */
profile_hash_batch_fn *profile_hash_batch(legacy_hash_fn *hash);

/* The hashes that are made of MD5 (profile_hash.c). */
legacy_hash_fn profile_md5_word, profile_md5_be64, profile_md5_be16, profile_md5_le64_first,
    profile_md5_le64_last;

/* The index-th hash of a set, NULL behind the last; the one of that name, or NULL. */
const struct profile_hash *profile_hash_at(uint32_t set, size_t index);
const struct profile_hash *profile_hash_find(uint32_t set, const char *name);

/* What of a node is hashed (its own name, where it has one, comes before all of these). */
enum profile_naming {
    NAMING_GIVEN,      /* the address as written */
    NAMING_HOST_PORT,  /* host:port, with the default port if none is written */
    NAMING_DROP_11211, /* host, and :port unless that is 11211 */
    NAMING_SLASH,      /* /host:port: how Java prints an InetSocketAddress without a name */
    NAMING_CARBON,     /* ('host', 'instance') of host:instance or host:port:instance */
    NAMING_INSTANCE,   /* the instance of the same */
    NAMING_TWICE,      /* host/host:port: the same with a name */
};

enum profile_order {
    ORDER_GIVEN,
    ORDER_LENGTH_NAME, /* shorter names first, then by bytes: twemproxy */
    ORDER_NAME,        /* by bytes of the name */
};

enum profile_weights {
    WEIGHTS_IGNORED,
    WEIGHTS_WHOLE,        /* 1, 2, 3, ... */
    WEIGHTS_WHOLE_OR_ONE, /* 0 counts as 1: libmemcached */
    WEIGHTS_WHOLE_OR_OUT, /* 0 takes no keys: HAProxy */
    WEIGHTS_REAL,         /* any number above 0 */
    WEIGHTS_PART,         /* 0 .. 1: mcrouter */
};

/* Which part of a key is hashed, unless options say more. */
enum profile_key {
    KEY_WHOLE,
    KEY_REDIS,           /* {tag} if not empty */
    KEY_REDIS_JS,        /* the same, but {} does not end the search: npm cluster-key-slot */
    KEY_MCROUTER,        /* before |#| */
    KEY_TAGGED,          /* options.tag, if not empty: twemproxy */
    KEY_TAGGED_OR_EMPTY, /* options.tag; an empty one is the empty key: memcached's proxy */
    KEY_STOPPED,         /* before options.stop */
};

/* How many points (or groups of points, where a digest gives several) a node has on a ring. */
enum profile_count {
    COUNT_FIXED,        /* per */
    COUNT_QUARTER,      /* per / 4, for digests of four points */
    COUNT_WEIGHT,       /* per * weight, rounded to nearest */
    COUNT_FLOAT32,      /* floor(float32(weight / total * per * n)): libmemcached */
    COUNT_FLOAT_DOUBLE, /* the share in float32, the rest in double: libketama */
    COUNT_DOUBLE,       /* floor(weight / total * per * n) */
    COUNT_DOUBLE_LAST,  /* floor(per * n * weight / total): dalli */
    COUNT_INTEGER,      /* per * n * weight / total in integers: uhashring */
};

/* How the points of a node come about. */
enum profile_point {
    POINT_MD5_4,       /* the four words of md5(text) */
    POINT_MD5_3,       /* the first three */
    POINT_HASH,        /* the key's hash of text, or `point_hash` */
    POINT_SHA1_4,      /* the first four little-endian words of sha1 (npm hashring) */
    POINT_SHA1_3,      /* three of them */
    POINT_SHA1_BE,     /* the first 32 bits of sha1: dalli */
    POINT_SHA256_END,  /* the last 4 bytes of sha256, little-endian: Varnish */
    POINT_MD5_16,      /* the first 16 bits of md5: carbon */
    POINT_FNV1A_16,    /* fnv1a_32 folded to 16 bits: carbon */
    POINT_MD5_BE64,    /* the first 64 bits of md5: uhashring */
    POINT_MD5_LE64,    /* bytes 8 .. 15, little-endian: ex_hash_ring */
    POINT_CRC_CHAIN,   /* each point is hashed into the next: nginx */
    POINT_HAPROXY,     /* avalanche of a number that counts up from the server's key */
    POINT_HAPROXY_3_0, /* the same; the key of an id is its avalanche */
    POINT_CUMULATED,   /* one a server, where the sum of the weights so far ends: Varnish */
    POINT_ENVOY,       /* xxh64 or murmur2 of text, as many as fit a running sum */
};

/* Which of two equal points stays, in the order of the servers. */
enum profile_tie {
    TIE_FIRST,
    TIE_LAST,
    TIE_NEXT_FREE, /* both: the later one moves on to the next free point (carbon) */
};

/* Which point a position belongs to. */
enum profile_wrap {
    WRAP_NEXT,    /* the first that is not before it, past the last to the first */
    WRAP_ABOVE,   /* the first strictly behind it, past the last to the first */
    WRAP_BEFORE,  /* the last that is not behind it, before the first to the last */
    WRAP_NEAREST, /* the nearer of both neighbours, the lower one on a tie */
    WRAP_CLAMP,   /* the first that is not before it, past the last to the last */
};

struct profile_ring_rule {
    enum profile_count count;
    uint32_t per;
    const char *format; /* of a point's text: %n the node's name, %k the point's number */
    enum profile_point point;
    legacy_hash_fn *point_hash; /* NULL: the key's */
    enum profile_tie tie;
    enum profile_wrap wrap;
    unsigned bits;     /* of a position; 0 means 32 */
    uint32_t size_max; /* of the whole ring: Envoy */
};

/* How a table's places are given to nodes. */
enum profile_fill {
    FILL_ONCE,    /* one place a node, or numbers alone */
    FILL_WEIGHT,  /* as many places in a row as the node has weight */
    FILL_SMOOTH,  /* HAProxy's map: interleaved */
    FILL_BUCKETS, /* pecl memcache: 1024 buckets over a ring */
    FILL_SCALED,  /* Cache::Memcached::Fast: a sum of real weights, cut at whole numbers */
    FILL_MAGLEV,  /* Envoy's maglev */
    FILL_SLOTS,   /* Redis Cluster: from the topology */
    FILL_BOUNDED, /* buraksezer/consistent: a ring with bounded loads */
};

struct profile_table_rule {
    enum profile_fill fill;
    uint32_t size; /* where it does not follow from the nodes */
};

struct cw_profile_map;
struct profile_topology;

/* Reads options.topology. */
typedef int profile_topology_fn(struct profile_topology *topology, const char *text, size_t len,
                                struct cw_error *error);

/* What an engine is to a map: a table of functions. */
struct profile_engine {
    /* Builds map->state and fills map->shares; on failure release() is called on what there is. */
    int (*build)(struct cw_profile_map *map, struct cw_error *error);
    void (*release)(struct cw_profile_map *map);
    /* The owner of a key. */
    uint32_t (*locate)(const struct cw_profile_map *map, const void *key, size_t len);
    /* The rest may be NULL: what the public header says then. */
    /* The owners of hashes (profile_key_hash()), where the hash decides alone. */
    void (*locate_hashes)(const struct cw_profile_map *map, const uint64_t *hashes, size_t count,
                          uint32_t *ret_nodes);
    size_t (*locate_n)(const struct cw_profile_map *map, const void *key, size_t len, size_t k,
                       uint32_t *ret_nodes);
    uint64_t (*position)(const struct cw_profile_map *map, const void *key, size_t len);
    uint32_t (*range_at)(const struct cw_profile_map *map, uint64_t position, uint64_t *ret_last);
    size_t (*memory)(const struct cw_profile_map *map);
};

extern const struct profile_engine profile_engine_ring, profile_engine_table, profile_engine_jump,
    profile_engine_cassandra, profile_engine_pymemcache, profile_engine_pymemcache_bytes,
    profile_engine_ch3, profile_engine_ch3_weighted, profile_engine_mcrouter_crc32,
    profile_engine_mcrouter_rendezvous, profile_engine_mcrouter_rendezvous_weighted;

/* ---- a row ----------------------------------------------------------------------------------- */

struct profile {
    struct cw_profile shown; /* first: the public part */
    const struct profile_engine *engine;
    uint32_t hashes; /* enum profile_hash_set */
    enum profile_naming naming;
    enum profile_order order;
    enum profile_weights weights;
    enum profile_key key;
    enum profile_key tag;         /* with options.tag */
    legacy_hash_fn *seed_of_salt; /* makes the seed of options.salt */
    profile_topology_fn *read_topology;
    int may_be_empty;        /* of nodes: it places on numbers, or has a topology */
    int no_empty_key;        /* an empty key has no fixed place */
    unsigned skip_down_max;  /* how often a down server's keys look further; 0: they do not */
    int leaves_down_out;     /* down servers are as if they were not there */
    const char *port;        /* where an address has none; NULL: it must have one */
    const char *socket_port; /* of a unix socket; NULL: the system has none */
    int names_unique;        /* the system refuses two servers of one name */
    int java_address;        /* the system's own name can only be told from an IPv4 address */
    int literal_address;     /* host and port are split at the last colon, brackets stay */
    struct profile_ring_rule ring;
    struct profile_table_rule table;
};

/* The rows, a table a file: profile_rows_*.c. */
struct profile_rows {
    const struct profile *list;
    size_t count;
};
extern const struct profile_rows profile_rows_libmemcached, profile_rows_twemproxy,
    profile_rows_redis, profile_rows_ketama, profile_rows_java, profile_rows_nginx,
    profile_rows_haproxy, profile_rows_mcrouter, profile_rows_envoy, profile_rows_memcached,
    profile_rows_clients, profile_rows_cassandra, profile_rows_kafka, profile_rows_more;

/* ---- a map ----------------------------------------------------------------------------------- */

struct profile_node {
    const char *name; /* what is hashed */
    const char *host, *port;
    uint32_t number; /* as given */
    uint32_t id;     /* HAProxy: configured or automatic */
    double weight;   /* with the rule of the row applied: never 0 where that means 1 */
    int is_down;
};

struct cw_profile_map {
    /* First: what a lookup needs. */
    const struct profile_engine *engine;
    legacy_hash_fn *hash;
    uint64_t seed;
    void *state;                       /* the engine's */
    profile_hash_batch_fn *hash_batch; /* NULL: one by one */
    enum vectors vectors;              /* what batches may use */
    int needs_key;                     /* a hash does not decide alone, whatever the engine has */
    unsigned hash_bits;                /* 0: 32 or more */
    enum profile_key key;
    unsigned bits; /* of a position, where the engine has them */
    const struct profile *profile;
    uint64_t position_max; /* 0: positions do not decide alone */
    _Atomic uint32_t references;
    uint32_t node_count;               /* 0 where there are only numbers */
    uint32_t owner_count;              /* of nodes, or of numbers */
    struct cw_profile_node *given;     /* copies, in the given order */
    struct profile_node *nodes;        /* in the order of the rule */
    struct cw_profile_options options; /* strings are copies, defaults filled in; nodes: given */
    struct profile_topology *topology; /* while the map is built */
    double *shares;                    /* by given number; NULL: not known */
    char *text;                        /* all strings */
    size_t text_size;
};

/* Copies options and nodes, resolves names, ports, order and weights (profile_nodes.c). */
int profile_nodes_init(struct cw_profile_map *map, const struct cw_profile_options *options,
                       struct cw_error *error);
void profile_nodes_fini(struct cw_profile_map *map);

/* The name of a setting that is given and not among these bits, or NULL (profile_settings.c). */
const char *profile_settings_unknown(const struct cw_profile_options *options, uint32_t known);
/* Makes all but these "not given". */
void profile_settings_keep(struct cw_profile_options *options, uint32_t known);

/* The part of a key that is hashed (profile_key.c). Never copies. */
const void *profile_key_part(const struct cw_profile_map *map, const void *key, size_t len,
                             size_t *ret_len);

/* The hash of that part. */
static inline uint64_t profile_key_hash(const struct cw_profile_map *map, const void *key,
                                        size_t len)
{
    if (map->key != KEY_WHOLE)
        key = profile_key_part(map, key, len, &len);
    return map->hash(key, len, map->seed);
}

/* Many keys (profile_batch.c): their hashes, and the owners of hashes. The latter only where
 * profile_by_hash(). */
void profile_hash_keys(const struct cw_profile_map *map, const void *const *keys,
                       const size_t *lens, size_t count, uint64_t *ret_hashes);
int profile_by_hash(const struct cw_profile_map *map);
void profile_locate_hashes(const struct cw_profile_map *map, const uint64_t *hashes, size_t count,
                           uint32_t *ret_nodes);

/* Sum of the weights, in the double that it is exact in. */
double profile_weight_sum(const struct cw_profile_map *map);

#endif
