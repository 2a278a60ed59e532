/*
 * What `clockwise import` is made of: readers of other systems' configurations, each in a file of
 * its own, which all fill one neutral picture (struct import); the writer of our YAML from it; and
 * what is told to the person on the way.
 *
 * A reader takes the text of a file, which holds no zero byte and ends in one, and adds pools with
 * their nodes in the order of the configuration, and remarks. It never stops at the first mistake
 * where it can go on, and whatever the text holds it only reads, within the bounds below. Readers
 * work alike: they say with a remark what cannot be carried over, one for each place in the file.
 *
 * Texts that a picture points to are its own (import_text()) or constant. Memory that runs out is
 * noted in the picture (no_memory) and reported once, by the command.
 */
#ifndef CLI_IMPORT_H
#define CLI_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <clockwise/profile.h>

#include "base/buffer.h"

enum {
    IMPORT_LEN_MAX = 16 << 20,    /* of a file */
    IMPORT_POOL_COUNT_MAX = 256,  /* what a configuration of ours holds */
    IMPORT_REMARK_COUNT_MAX = 200 /* that are told; further ones are counted */
};

/* How much a remark matters. */
enum import_weight {
    IMPORT_NOTE,  /* something is not carried over, and no key moves by it */
    IMPORT_MOVES, /* keys would be elsewhere: an error, unless it is forced */
    IMPORT_WRONG, /* the file cannot be read so: always an error */
};

struct import_remark {
    enum import_weight weight;
    unsigned line, column; /* from 1; 0: of the whole file */
    const char *text;
};

struct import_node {
    unsigned line;
    const char *id;      /* unique in its pool, and one that a configuration may hold */
    const char *address; /* where a router connects to: host:port, [v6]:port or unix:/path */
    /* As the profile takes it; `place.address` is the text that is placed, which may be another
     * than the address that is connected to. */
    struct cw_profile_node place;
};

struct import_pool {
    unsigned line;
    const char *name;   /* one that a configuration may hold */
    const char *engine; /* "redis", "memcached", or NULL: neither; for locate and plan alone */
    const char *listen, *password, *client_password; /* NULL: not known */
    uint32_t timeout_ms, connections;                /* 0: not known */
    const struct cw_profile *profile;
    struct cw_profile_options options; /* the settings; the nodes stand below */
    struct import_node *nodes;
    size_t node_count, node_room;
    uint32_t *ids; /* open addressing by the hash of an id: numbers of nodes plus 1 */
    size_t ids_size;
};

struct import_chunk;

struct import {
    const char *text; /* of the file, without a byte-order mark */
    size_t len;
    const char *section; /* the backend, upstream or pool that is wanted; NULL: any */
    struct import_pool *pools;
    size_t pool_count;
    struct import_remark remarks[IMPORT_REMARK_COUNT_MAX];
    size_t remark_count;
    size_t counts[IMPORT_WRONG + 1]; /* of all remarks, those that are not told too */
    bool no_memory;
    struct import_chunk *chunks;
};

/* A system whose files are read. */
struct import_format {
    const char *name;    /* for --format */
    const char *what;    /* what is read, in a few words */
    const char *section; /* what the system calls a pool, which is also the option for choosing
                            one ("backend"); NULL: there is one in a file */
    bool (*looks_like)(const char *text);
    void (*read)(struct import *import);
};

/* In the order in which they are tried; ends with NULL. */
extern const struct import_format *const import_formats[];

extern const struct import_format import_format_nutcracker, import_format_haproxy,
    import_format_nginx, import_format_mcrouter, import_format_memcached_proxy,
    import_format_redis_cluster, import_format_nodetool;

/* ---- the picture (import_picture.c) ---------------------------------------------------------- */

/* The text must stay as long as the picture. */
void import_init(struct import *import, const char *text, size_t len);
void import_fini(struct import *import);

/* Memory that lives as long as the picture, zeroed; NULL when memory is out, which is noted. */
void *import_alloc(struct import *import, size_t size);
/* Copies of texts; never NULL ("" when memory is out). */
const char *import_text(struct import *import, const char *text);
const char *import_text_of(struct import *import, const char *text, size_t len);
const char *import_textf(struct import *import, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a remark. With an option, "option 'x': " stands before it. */
void import_remark(struct import *import, enum import_weight weight, unsigned line,
                   const char *option, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* A new pool, whose name is made fit and unique; NULL when there are too many, which is remarked,
 * or memory is out. Good until the next one is added. */
struct import_pool *import_add_pool(struct import *import, const char *name, unsigned line,
                                    const char *profile);
/* A new node; its id is made of the first of name and address that can be one. The texts are
 * copied. False when there are too many, which is remarked, or memory is out. */
bool import_add_node(struct import *import, struct import_pool *pool,
                     const struct import_node *node);

/* host:port as a configuration of ours writes it: an IPv6 host in brackets. */
const char *import_address(struct import *import, const char *host, const char *port);
/* Digits only, at most `max`; false for anything else. */
bool import_number(const char *text, uint64_t max, uint64_t *ret_number);
/* Whether the profile has a hash of this name. */
bool import_has_hash(const struct cw_profile *profile, const char *name);

/* ---- after the reading ----------------------------------------------------------------------- */

/* Builds every pool's placement once, so that what is written is known to be good; whatever the
 * profile refuses becomes a remark (import_check.c). */
void import_check(struct import *import);

/* Reads what import_write() wrote as every command would; what is refused becomes a remark
 * (import_check.c). */
bool import_verify(struct import *import, const struct buffer *text);

/* The configuration, with all remarks as comments; where it came from is told in its first lines
 * (import_write.c). The caller releases the text; false when memory is out. */
bool import_write(const struct import *import, const struct import_format *format, const char *file,
                  struct buffer *ret_text);

/* Remarks for a person, a line each: "file:line: text" (import_write.c). */
void import_print_remarks(const struct import *import, const char *file, struct buffer *ret_text);

#endif
