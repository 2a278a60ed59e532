/*
 * The router as the layers above see it: what it is made of, how its workers are made, how they get
 * a new map, and how they are asked for what they know.
 *
 * A router is a set of workers that share nothing but this description and their pools' maps. Each
 * worker lives on one loop (one thread; in the simulation all in one), has its own listeners,
 * clients, connections to the nodes, and its own pointer to each pool's current map. Nothing here
 * starts threads or touches the operating system: it sees io.h only.
 */
#ifndef ROUTER_ROUTER_H
#define ROUTER_ROUTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <clockwise/clockwise.h>

#include "base/histogram.h"
#include "io/io.h"
#include "wire/command.h"
#include "wire/resp.h"

enum engine {
    ENGINE_REDIS,
    ENGINE_EMBEDDED,
};

/* What becomes of the keys of a node that is down. */
enum node_down_policy {
    NODE_DOWN_FAIL, /* an error that names the node */
    NODE_DOWN_MISS, /* reads: as if the key did not exist (wire/command_miss.h); the rest fails */
    NODE_DOWN_NEXT, /* the next node of the key that is up has it meanwhile; while keys move: FAIL
                     */
};

/* Bounds of everything. */
struct router_limits {
    uint32_t client_count_max; /* of the whole router; more are told so and closed */
    uint32_t pipeline_max;     /* requests of one client under way; then it is not read from */
    size_t client_memory_max;  /* bytes that one client may hold in requests and replies; a client
                                  over it that does not read its replies is closed */
    uint32_t key_len_max;      /* bytes */
    uint32_t node_queue_max;   /* requests under way on one connection to a node */
    uint32_t own_links_max;    /* connections to one node, of one worker, that clients have for
                                  themselves because they wait or watch keys */
    size_t reply_len_max;      /* bytes of one reply of a node */
    uint64_t
        half_request_ms; /* a client that began a request and sends no more is closed; 0: never */
    uint64_t idle_ms;    /* a client that sends nothing at all is closed; 0: never */
    struct resp_limits request;
};

struct pool_settings {
    const char *name;
    const char *listen; /* the clients' address */
    enum engine engine;
    struct cw_map *map;         /* the first generation; its nodes' addresses are io.h addresses */
    uint32_t connections;       /* to each node, of each worker and protocol: 1 .. 16 */
    uint64_t timeout_ms;        /* a request not answered by then fails, naming the node */
    uint64_t probe_interval_ms; /* how often a node that failed is asked with PING, at first */
    uint64_t probe_interval_max_ms; /* doubling up to this */
    enum node_down_policy on_node_down;
    const char *username, *password; /* for the nodes; NULL: none */
    const char *client_password;     /* asked from clients; NULL: none */
};

struct router_options {
    const struct pool_settings *pools;
    uint32_t pool_count;
    uint32_t worker_count;
    struct router_limits limits;
    const char *version; /* shown by INFO and HELLO */
    /* One line for the log, level 0 debug … 3 error, from any worker's thread. May be NULL. */
    void (*log)(int level, const char *line);
};

struct router;
struct worker;

/* Copies the options; takes references to the maps. 0 or -ENOMEM. */
int router_create(const struct router_options *options, struct router **ret_router);
/* After all workers are destroyed. */
void router_destroy(struct router **router);

/* Makes worker number `index` on a loop and starts listening. On the loop's thread, or before it
 * runs. 0 or a negative errno; ret_address then names the address that could not be had. */
int worker_create(struct router *router, uint32_t index, struct io_loop *loop,
                  struct worker **ret_worker, char ret_address[static IO_ADDRESS_LEN_MAX]);
/* Stops listening, closes clients and nodes. On the loop's thread, or when it no longer runs. */
void worker_destroy(struct worker **worker);

/* The address on which a worker's pool really listens (where port 0 was asked for). */
const char *worker_listen_address(const struct worker *worker, uint32_t pool);

/* Gives every worker a new map of a pool; each swaps it in between two turns of its loop. Any
 * thread, once all workers exist. Takes a reference. 0 or -ENOMEM. */
int router_set_map(struct router *router, uint32_t pool, struct cw_map *map);
/* The pool's newest map; the caller gets a reference. Any thread. */
struct cw_map *router_map(struct router *router, uint32_t pool);

/* ---- transitions: what the workers are told ----------------------------------------------------
 *
 * While keys move from the map `map` to the map `next`, a worker goes through phases. In all of
 * them the owner in `map` serves the key; the switch is a state with the other map and MOVE_NONE. A
 * key moves if its owners in the two maps are not the same node (another id, or the same id at
 * another address).
 */

enum move_phase {
    MOVE_NONE,     /* nothing moves */
    MOVE_PREPARED, /* the nodes of `next` are connected too; nothing else is different */
    MOVE_TRACKING, /* before each write of a moving key, the key is marked in the owner's dirty set
                    */
    MOVE_FROZEN,   /* writes of moving keys wait; reads go on */
};

/* What the workers count; atomic, relaxed. */
struct move_counters {
    uint64_t marks;        /* keys and elements put into dirty sets */
    uint64_t marks_failed; /* a node answered a mark with an error: what it says is written may not
                              be marked, so the copy is void */
    uint64_t held;         /* writes that waited */
    uint64_t held_us_max;  /* the longest wait */
};

struct pool_state {
    struct cw_map *map;  /* who owns the keys */
    struct cw_map *next; /* who will; NULL with MOVE_NONE */
    enum move_phase phase;
    /* TRACKING: the name of the dirty set, sent as SADD's key. A member is 'k' and the key, or for
     * a big key 'e', the key's length as four bytes (big-endian), the key and one element. */
    struct slice dirty_set;
    struct big_keys *big;           /* may be NULL */
    struct move_counters *counters; /* outlives the router's workers; NULL with MOVE_NONE */
};

/* Gives every worker a new state of a pool, swapped in between two turns of its loop; like
 * router_set_map(), which is this with MOVE_NONE. `acked` is called, on some worker's loop, once
 * every worker has the state and every request that any of them began in an earlier one is over
 * (answered, or its connection broken). Acknowledgements of a pool come in the order of its states.
 * `acked` may set the next state. Copies and references what the state points to. Any thread, one
 * call at a time for a pool, once all workers exist. 0 or -ENOMEM (then nothing was changed). A
 * worker that has no memory to take a state logs an error and goes on in the one before: `acked` is
 * then never called, nor is it when the workers end first.
 *
 * What is not seen: scripts that write keys they do not declare, and writes with no keys at all,
 * are neither marked nor held. Commands that write to all nodes (FLUSHALL) are refused while keys
 * move. An expiry set on a key in `big` is not marked. */
int router_set_state(struct router *router, uint32_t pool, const struct pool_state *state,
                     io_callback acked, void *context);

/* Runs `visit` once in every worker, one after the other, each on its own loop, and then `done` on
 * the last one's. So a context needs no lock. Any thread, once all workers exist. 0 or -ENOMEM. */
typedef void (*worker_visit)(struct worker *worker, void *context);
int router_visit(struct router *router, worker_visit visit, io_callback done, void *context);

/* ---- what a worker knows (inside a visit) -----------------------------------------------------
 */

enum node_health {
    NODE_UP,      /* answers */
    NODE_PROBING, /* not known yet: being connected and asked with PING */
    NODE_DOWN,    /* missed a deadline or cannot be reached; keys fail at once until PING answers */
};

struct node_report {
    const char *id, *address; /* the map's strings */
    enum node_health health;
    uint64_t requests, errors, timeouts, in_flight, reconnects;
    uint64_t bytes_out, bytes_in;
    uint64_t last_answer_ms; /* io_now_ms() of the worker's loop; 0: never */
};

struct worker_report {
    uint64_t clients, clients_total, clients_refused;
    uint64_t blocked_clients; /* that wait at a node, or are about to again */
    uint64_t requests, errors, split_requests, refused_commands;
    uint64_t bytes_in, bytes_out;
};

void worker_read_report(const struct worker *worker, struct worker_report *ret_report);
uint32_t worker_index(const struct worker *worker);
uint32_t worker_node_count(const struct worker *worker, uint32_t pool);
void worker_read_node(const struct worker *worker, uint32_t pool, uint32_t node,
                      struct node_report *ret_report);
uint64_t worker_map_generation(const struct worker *worker, uint32_t pool);
/* Request latency of a pool, in microseconds, from parsed to answered. */
const struct histogram *worker_latency(const struct worker *worker, uint32_t pool);

#endif
