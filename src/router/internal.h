/*
 * The router from the inside: what its files share. Everything here belongs to one worker and is
 * touched by that worker's loop only, except struct router, which is read-only after its creation
 * but for the parts under its lock.
 *
 * How a request travels:
 *
 *   client.c       reads bytes, cuts requests
 *   dispatch.c     who answers it?
 *   local.c        the router itself
 *   link.c         a node: relayed bytes, replies in order
 *   split.c        several nodes, replies merged
 *   transaction.c  a node, when EXEC comes
 *   request.c      the promise of a reply, kept in order
 *
 * While keys move from node to node (router.h, "transitions") a write may be marked first (mark.c)
 * or wait (hold.c); state.c and era.c tell what holds now, and when what held before is over.
 *
 * Nothing is sent while a turn of the loop runs: links and clients that have output put themselves
 * on the worker's lists, and worker.c flushes each once at the turn's end.
 */
#ifndef ROUTER_INTERNAL_H
#define ROUTER_INTERNAL_H

#include "base/assert.h"
#include "base/buffer.h"
#include "base/list.h"
#include "base/mutex.h"
#include "base/random.h"
#include "router/big_keys.h"
#include "router/router.h"

enum {
    READ_CHUNK = 64 * 1024,  /* bytes read at once */
    INTAKE_SIZE = 80 * 1024, /* the worker's buffer that they are read into */
    BUFFER_KEEP = 64 * 1024, /* an empty buffer larger than this is given back */
    TICK_MS = 10,            /* how often deadlines are looked at while any is running */
    TICK_LATE_MS = 50,
    TICKS_LATE_MAX = 4,
    PROTOCOLS = 2,     /* RESP2 and RESP3, each with its own connections to a node */
    NAME_LEN_MAX = 64, /* of CLIENT SETNAME and its kind */
};

/* ---- requests: promises of a reply ------------------------------------------------------------
 */

enum request_kind {
    REQUEST_RELAY,     /* the node's reply is the client's reply */
    REQUEST_SCAN,      /* so it is, but for the cursor */
    REQUEST_SPLIT,     /* answered by its parts */
    REQUEST_PART,      /* a part of a split; has no client of its own */
    REQUEST_READY,     /* the reply was known at once, but had to wait for its turn */
    REQUEST_MARK,      /* the mark of the write behind it; its reply is nobody's */
    REQUEST_WATCH,     /* WATCH: the reply is the client's */
    REQUEST_EXEC,      /* EXEC of a transaction: the reply is the client's */
    REQUEST_EXEC_PART, /* MULTI and the commands before it: their replies are nobody's */
    /* blocking.c: */
    REQUEST_BLOCKED,   /* waits at the node; if it is woken it is sent again */
    REQUEST_UNBLOCK,   /* wakes it; has no client */
    REQUEST_STREAM_ID, /* asks for the last ID of a stream; has no client */
};

/* One request of a client from parsed to answered. It is in its client's queue (in order) until it
 * is answered and all before it are, and in a link's queue while a node has it. */
struct request {
    struct request *next;  /* in the client's queue; or in the worker's list of free ones */
    struct client *client; /* NULL when it has gone, and for parts */
    enum request_kind kind;
    bool in_flight; /* a link or the parts of a split will still come back to it */
    bool answered;
    uint32_t len;         /* bytes of the request that count as held by the client */
    uint32_t node;        /* SCAN: the number of the node asked */
    uint64_t deadline_ms; /* while a link has it */
    uint64_t written_end; /* while a link has it: `written` of the link once all of it is */
    uint64_t started_ns;
    struct pool *pool;
    struct era *era;              /* in which it was sent to a node; NULL: it was not */
    const struct command *missed; /* answered as a miss if its node is down; NULL: it fails */
    uint32_t missed_arg_count;
    struct split *split;  /* SPLIT: its own; PART: its parent's */
    uint32_t part;        /* PART: its number; STREAM_ID: the key's */
    struct own_link *own; /* BLOCKED: on which it waits; UNBLOCK, STREAM_ID: about which it is */
    struct request *exec; /* EXEC_PART: the EXEC behind it at the same link, or NULL */
    struct link *link;    /* EXEC, and EXEC_PART without one: where it was sent */
    struct buffer reply;  /* answered, and waiting for those before it; EXEC, until it is answered:
                             why the node will refuse it */
};

struct request *request_borrow(struct worker *worker, struct client *client,
                               enum request_kind kind);
void request_return(struct worker *worker, struct request *request);
/* The reply has come: passes it on to the client, or to the split. */
void request_answer(struct worker *worker, struct request *request, const char *reply, size_t len);
/* Answers with an error line ("-" text). */
void request_fail(struct worker *worker, struct request *request, const char *text);

/* ---- splits -----------------------------------------------------------------------------------
 */

/* A command that went to several nodes. */
struct split {
    struct request *parent;
    enum command_merge merge;
    uint32_t part_count, parts_waiting;
    uint32_t key_count;     /* ARRAY: keys in the order in which they were asked */
    uint32_t *part_of_key;  /* ARRAY: which part answers key i */
    struct buffer *replies; /* one a part */
};

struct parsed; /* a request just parsed, see below */

#define NO_KEY UINT32_MAX

/* Some keys of a request by their numbers: the first, then next[i] after i, to NO_KEY. */
struct key_chain {
    uint32_t first;
    const uint32_t *next;
};

/* Sends a command to the owners of its keys; owners[i] is the node of key i. */
void split_by_keys(struct client *client, const struct parsed *parsed, const uint32_t *owners);
/* Sends a command as it is to every node. */
void split_to_all(struct client *client, const struct parsed *parsed);
void split_part_answered(struct worker *worker, struct request *part, const char *reply,
                         size_t len);
void split_destroy(struct split **split);

/* ---- links: connections to nodes --------------------------------------------------------------
 */

enum link_state {
    LINK_CLOSED,     /* no connection; a request or the retry time opens it */
    LINK_CONNECTING, /* waits for the connection */
    LINK_GREETING,   /* waits for the answers to AUTH, HELLO and PING */
    LINK_READY,
};

/* A queue of requests under way, in the order in which the node will answer. */
struct flight {
    struct request **ring; /* capacity is a power of two */
    uint32_t head, count, capacity;
};

struct link {
    struct node *node;
    int protocol; /* 2 or 3 */
    enum link_state state;
    struct io_conn *conn;
    struct buffer greeting; /* GREETING: what is still to be said before anything else */
    struct buffer out, in;
    struct resp_scanner scanner; /* of the first reply in `in` */
    struct flight flight;
    uint32_t greetings_waiting;
    uint64_t deadline_ms; /* CONNECTING and GREETING: until when */
    uint64_t heard_ms;    /* when bytes came last, or the oldest request's went */
    uint64_t written;     /* bytes of requests that the node took */
    uint64_t retry_at_ms; /* CLOSED: not before; 0: as soon as there is need */
    uint64_t backoff_ms;
    bool blocked; /* the last write was short: wait for IO_WRITABLE */
    bool is_own;  /* part of a struct own_link: is not opened again, and says nothing of the node */
    bool is_spent; /* own, and it was closed */
    struct list dirty;
};

struct node {
    struct pool *pool;
    char *id, *address;
    enum node_health health;
    bool retired;       /* no longer in the map; goes when its links are empty */
    bool is_awaited;    /* in the map to come only */
    struct link *links; /* connections of RESP2, then those of RESP3 */
    uint64_t requests, errors, timeouts, reconnects, bytes_in, bytes_out, last_answer_ms;
    char why[96];                   /* DOWN: what happened, for the error of its keys */
    struct list own_lent, own_idle; /* see own_link.h */
    uint32_t own_lent_count, own_idle_count;
    struct list in_retired;
};

struct node *node_create(struct pool *pool, const struct cw_node *described);
/* Fails what is under way and closes. */
void node_destroy(struct node **node);
/* Looks at deadlines and retries. Returns whether anything is running that needs a next look. */
bool node_tick(struct node *node);
uint32_t node_in_flight(const struct node *node);
/* Connects ahead of the first request: RESP2, and RESP3 if asked. */
void node_connect(struct node *node, bool with_resp3);
/* Whether any RESP3 connection is open. */
bool node_uses_resp3(const struct node *node);

/* It has answered a PING; it has failed to (a sentence part that follows its name). */
void node_is_up(struct node *node);
void node_is_down(struct node *node, const char *why);

void link_init(struct link *link, struct node *node, int protocol);
/* Fails what is under way, closes, frees. */
void link_fini(struct link *link);
/* Closes it and fails what is under way, saying nothing of the node's health. */
void link_abandon(struct link *link, const char *why);
/* Looks at the link's deadlines; whether it needs another look. */
bool link_tick(struct link *link);

/* The link that a client's request to a node takes. */
struct link *node_link(struct node *node, const struct client *client);
/* Whether a number of requests may be queued at a link now; if not, the error for it is written to
 * ret_text. Opens the link if need be. */
bool link_accepts(struct link *link, uint32_t count, char *ret_text, size_t text_size);
/* Opens the link if it is closed and not waiting to be tried again. */
void link_connect(struct link *link);
/* Queues a request whose bytes the caller has just appended to link->out. */
void link_send(struct link *link, struct request *request);
void link_flush(struct link *link);

/* ---- states and eras --------------------------------------------------------------------------
 *
 * A state is what router_set_state() was given, one for all workers. Each worker has an era of it:
 * the time from when it took the state until the last request that it sent meanwhile is over. A
 * worker acknowledges a state when all its older eras are over.
 */

struct era {
    struct state *state;
    struct worker *worker;
    struct pool *pool;   /* once it has begun */
    uint32_t open;       /* requests sent and not over, and one while it is the pool's newest */
    struct list in_pool; /* oldest first */
};

/* Read-only once it is posted, but for the counts. */
struct state {
    struct router *router;
    uint32_t pool;
    struct pool_state what; /* owns what it points to, but for the counters */
    io_callback acked;
    void *context;
    uint32_t references;   /* atomic: one an era, and one while it is the newest */
    uint32_t unacked;      /* atomic: workers that have not acknowledged it */
    bool is_void;          /* could not be given to all; under the router's lock */
    struct list in_router; /* under the router's lock */
    struct era eras[];     /* one a worker */
};

/* The first state of a pool: a map and nothing else. Belongs to no worker yet. NULL when memory is
 * out. */
struct state *state_create_first(struct router *router, uint32_t pool, struct cw_map *map);
void state_unref(struct state **state);
/* Frees it whatever still refers to it: workers that never took it. */
void state_destroy(struct state *state);
/* Makes it the pool's newest era, and the older ones over when nothing is under way in them. */
void era_begin(struct pool *pool, struct era *era);
void pool_end_eras(struct pool *pool);
/* Drops all eras of a pool that ends; nothing is acknowledged any more. */
void pool_drop_eras(struct pool *pool);

static inline void era_enter(struct era *era, struct request *request)
{
    request->era = era;
    era->open++;
}

static inline void era_leave(struct era *era)
{
    if (--era->open == 0)
        pool_end_eras(era->pool);
}

/* ---- pools and workers ------------------------------------------------------------------------
 */

/* The nodes of a map, in its order. */
struct node_set {
    struct cw_map *map;
    struct node **nodes;
    uint32_t count;
};

/* A pool as one worker sees it. */
struct pool {
    struct worker *worker;
    const struct pool_settings *settings;
    uint32_t index;
    struct cw_map *map;
    struct node **nodes; /* in the map's order */
    uint32_t node_count;
    enum move_phase phase;
    struct node_set next; /* while keys move: who will have them; nodes that stay are the same */
    struct era *era;      /* the newest: its state is what holds */
    struct list eras;
    bool is_ending;
    struct list held;    /* clients whose next request waits for another state */
    struct list blocked; /* clients that wait at a node; see blocking.c */
    struct list woken;   /* those that are to come back from there */
    struct list retired; /* nodes of older maps that still have requests under way */
    struct io_listener *listener;
    struct histogram *latency;
};

/* Puts a state in the place of the old one; links of nodes that stay, or come, are kept. Clients
 * that were held go on. 0 or -ENOMEM, then all is as before. */
int pool_set_state(struct pool *pool, const struct pool_state *state);
/* Looks at deadlines; whether anything is running that needs a next look. */
bool pool_tick(struct pool *pool);
void pool_release(struct pool *pool);

struct worker {
    struct router *router;
    const struct router_limits *limits;
    uint32_t index;
    struct io_loop *loop;
    struct io_timer *tick;
    bool ticking;
    uint32_t late_ticks; /* in a row */
    uint64_t tick_due_ms;
    struct pool *pools;
    struct list clients;
    struct list dead_clients;  /* freed at the turn's end */
    struct list dirty_clients; /* have output */
    struct list dirty_links;   /* have output */
    struct list resumable;     /* clients with requests already read, and room for them again */
    struct list partial;       /* clients that owe the rest of a request, the longest first */
    struct buffer members;     /* room for the members of a mark */
    struct request *free_requests;
    struct random random;
    uint64_t next_client;
    char *intake;     /* INTAKE_SIZE bytes; see intake.c */
    uint32_t *owners; /* room for the owners of one request's keys */
    uint32_t owners_capacity;
    uint32_t *part_of_node; /* room for one number a node, for splits */
    uint32_t part_of_node_capacity;
    uint32_t *first_key, *next_key; /* room for the chains of a split's keys, a part each */
    uint32_t first_key_capacity, next_key_capacity;
    struct worker_report report;
};

void worker_log(const struct worker *worker, int level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Makes sure that deadlines are looked at. */
void worker_need_tick(struct worker *worker);
/* A buffer of at least `count` numbers that grows and is kept. NULL when memory is out. */
uint32_t *worker_numbers(uint32_t **numbers, uint32_t *capacity, uint32_t count);

/* Reads more behind what is left of an unfinished message in `rest`, of which at least `need` bytes
 * (0: unknown) are wanted in all. Returns as io_read(); when > 0, ret_bytes is the message from its
 * start and all that follows, until intake_keep(). */
ssize_t intake_read(struct worker *worker, struct io_conn *conn, struct buffer *rest, size_t need,
                    struct slice *ret_bytes);
/* Keeps for the next read what was not used. False when memory is out. */
bool intake_keep(struct worker *worker, struct buffer *rest, struct slice bytes, size_t used);

struct router {
    struct router_options options; /* its own copy of everything but the maps */
    struct worker **workers;
    uint32_t client_count; /* atomic: of all workers */
    uint64_t started_wall_ms;
    struct mutex lock;     /* guards what follows */
    struct state **states; /* the newest of each pool */
    struct list all_states;
    struct list visits; /* under way */
};

/* ---- clients ----------------------------------------------------------------------------------
 */

struct client {
    struct pool *pool;
    struct worker *worker;
    struct io_conn *conn;
    uint64_t id;
    int protocol;
    bool authenticated;
    bool closing; /* answers what it owes, reads nothing more, and closes */
    bool dead;    /* closed; freed at the turn's end */
    bool stopped; /* is not read from: too much under way */
    bool blocked; /* the last write was short */
    struct buffer in, out;
    struct resp_request parser;
    struct request *first, *last; /* requests not passed on yet, in order */
    uint32_t queued;
    size_t held; /* bytes of requests under way and of replies that wait */
    uint64_t connected_ms, last_ms, partial_since_ms;
    uint64_t requests;
    char name[NAME_LEN_MAX + 1], lib_name[NAME_LEN_MAX + 1], lib_version[NAME_LEN_MAX + 1];
    const struct command *last_command;
    uint64_t hold_since_ns; /* while its next request waits for another state; else 0 */
    struct own_link *own;   /* its requests to that node take it; NULL: the links of all clients */
    bool needs_alone;       /* its next request waits until all before it are answered */
    struct transaction *transaction; /* see transaction.h; NULL: none */
    struct blocked *waits;           /* while its next request waits at a node; see blocking.c */
    struct list in_worker, dirty, resumable, partial, in_held;
};

/* A request as dispatch sees it. */
struct parsed {
    const struct command *command;
    struct resp_request *request;
    const char *bytes; /* where it starts */
    struct command_key_range keys;
};

static inline struct slice parsed_arg(const struct parsed *parsed, uint32_t i)
{
    return resp_request_arg(parsed->request, parsed->bytes, i);
}

static inline uint32_t parsed_arg_count(const struct parsed *parsed)
{
    return parsed->request->arg_count;
}

/* How many keys it has, the extra one included. */
static inline uint32_t parsed_key_count(const struct parsed *parsed)
{
    return parsed->keys.count + (parsed->keys.extra ? 1 : 0);
}

/* Key number i; the extra one is the last. */
static inline struct slice parsed_key(const struct parsed *parsed, uint32_t i)
{
    const struct command_key_range *keys = &parsed->keys;
    return parsed_arg(parsed, i < keys->count ? keys->first + i * keys->step : keys->extra);
}

void client_accept(void *pool, struct io_conn *conn);
/* Closes at once; the memory goes at the turn's end, so that callers up the stack may still look.
 */
void client_close(struct client *client);
void client_free(struct client *client);
void client_finish(struct client *client);
void client_flush(struct client *client);
void client_resume(struct client *client);
/* Called when a request was answered: passes on what is in order. */
void client_answered(struct client *client);
/* Where a reply known now goes; after writing, call client_replied(). NULL when memory is out. */
struct buffer *client_reply(struct client *client);
void client_replied(struct client *client);
/* An error reply known now. */
void client_error(struct client *client, const char *text);
void client_errorf(struct client *client, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Whether all that it asked for before is answered. If not, it is stopped until that is so and its
 * next request is dispatched again: dispatch is to return that it has to wait. For requests that
 * take another connection than those before them. */
bool client_is_alone(struct client *client);
/* Adds a request to the end of the queue. */
void client_enqueue(struct client *client, struct request *request);
/* Takes back its only request, unanswered, and has it dispatched again from client->in. */
void client_withdraw(struct client *client);
/* Puts the client on the list of those that have output. */
void client_dirty(struct client *client);

/* ---- dispatch ---------------------------------------------------------------------------------
 */

/* Answers one parsed request or sends it on. False: it has to wait, and nothing was done. */
bool dispatch(struct client *client, struct resp_request *request, const char *bytes);
/* Relays a request to one node. */
void relay(struct client *client, const struct parsed *parsed, uint32_t node);
/* The node that a client's key is sent to. CW_NO_NODE after an error was answered: the key is not
 * for clients, or has no place. */
uint32_t key_owner(struct client *client, struct slice key);
/* Answers that keys of a command are on two nodes, naming both. */
struct key_place {
    struct slice key;
    uint32_t owner;
};
void refuse_crossing(struct client *client, const char *command, struct key_place first,
                     struct key_place second);
/* Appends the request as an array of bulk strings, whatever form it came in. */
bool append_request(struct buffer *out, const struct parsed *parsed);
/* "'a', 'b'"-safe text of bytes from the network: printable, cut at size. */
const char *printable(struct slice text, char *ret_text, size_t size);

/* ---- nodes that are down ----------------------------------------------------------------------
 */

/* Notes what a request to a node is answered if the node is down, where that is a miss. */
void down_note_miss(struct request *request, const struct command *command, uint32_t arg_count);
static inline void down_prepare(struct request *request, const struct pool *pool,
                                const struct command *command, uint32_t arg_count)
{
    if (pool->settings->on_node_down == NODE_DOWN_MISS)
        down_note_miss(request, command, arg_count);
}

/* Answers a request whose node is down, or went down; `error` if there is no other answer. */
void down_answer(struct worker *worker, struct request *request, int protocol, const char *error);
/* The next node in a key's order that is not down; the owner itself if there is none. */
uint32_t down_next_owner(const struct pool *pool, struct slice key, uint32_t owner);

#endif
