/*
 * What the files of the simulated network share: the world, its one queue of events, and the
 * objects of io.h. Everything that will happen is an event in the queue, ordered by virtual time
 * and then by when it was asked for; nothing else decides an order, so one seed gives one run.
 *
 * Memory of the simulation itself is asserted, not reported: a run that has none is no run.
 */
#ifndef IO_IO_SIM_INTERNAL_H
#define IO_IO_SIM_INTERNAL_H

#include "base/buffer.h"
#include "base/list.h"
#include "base/random.h"
#include "io/io_sim.h"

/* ---- events ---------------------------------------------------------------------------------- */

enum event_kind {
    EVENT_POST = 1,
    EVENT_TIMER,
    EVENT_READ,   /* a loop sees that it can read */
    EVENT_WRITE,  /* a loop sees that it is connected, or can write */
    EVENT_ACCEPT, /* a loop sees a client */
    EVENT_CONNECT,
    EVENT_ARRIVE, /* a piece of bytes, an end or a reset comes out of the network */
};

/* Lives in the object that it is about, which cancels it before it goes. */
struct event {
    uint64_t at_us, order;
    size_t place;         /* in the queue, from 1; 0: not there */
    struct io_loop *loop; /* whose callback it is; NULL: the network's, which no stop holds up */
    struct list held;     /* in its loop's list while that is stopped */
    enum event_kind kind;
    uint64_t id; /* of its object, for the trace */
    void (*run)(struct event *event);
};

void event_init(struct event *event, enum event_kind kind, struct io_loop *loop, uint64_t id,
                void (*run)(struct event *event));
/* Sets or moves it. */
void event_in(struct event *event, uint64_t delay_us);
void event_cancel(struct event *event);
bool event_is_set(const struct event *event);

/* ---- the world ------------------------------------------------------------------------------- */

struct world {
    bool exists;
    struct io_sim_options options;
    struct random random;
    uint64_t now_us, last_order, last_id, trace;
    struct event **queue; /* a binary heap; queue[0] is not used */
    size_t queue_len, queue_capacity;
    struct list loops;
    struct list turns; /* loops that had an event at this instant and not yet their turn's end */
    uint16_t last_port;
};

extern struct world world;

uint64_t world_new_id(void);
/* Adds to the trace. */
void world_note(uint64_t what);
/* At least 1: so time goes on however callbacks answer each other. */
uint64_t world_delay_us(void);
bool world_chance(uint32_t part, uint32_t whole);
/* Runs until the moment, or *stop, or until nothing is left; the number of events. */
uint64_t world_run(uint64_t end_us, const bool *stop);

/* ---- loops ----------------------------------------------------------------------------------- */

struct io_loop {
    struct list link;
    struct list turn; /* in world.turns */
    struct list held; /* events that wait for io_sim_resume() */
    struct list conns, listeners, timers, posts;
    io_callback turn_end;
    void *turn_end_context;
    bool is_stopped; /* by io_sim_stop() */
    bool stop;       /* by io_loop_stop() */
};

void loop_begin_turn(struct io_loop *loop);
void loop_end_turn(struct io_loop *loop);
void loop_hold(struct io_loop *loop, struct event *event);

/* ---- listeners ------------------------------------------------------------------------------- */

struct io_listener {
    struct io_loop *loop;
    struct list link;
    struct list queue; /* connections that nobody accepted yet */
    unsigned queue_len;
    io_accept_callback callback;
    void *context;
    bool paused, killed;
    char address[IO_ADDRESS_LEN_MAX];
};

/* One of those that listen on the address and live, or NULL. */
struct io_listener *listener_find(const char *address);
/* Puts an arrived client into the queue; false when that is full. */
bool listener_enqueue(struct io_listener *listener, struct io_conn *conn);

/* ---- connections ----------------------------------------------------------------------------- */

struct io_conn {
    struct io_loop *loop;
    struct list link;
    uint64_t id;
    io_event_callback callback; /* NULL: accepted, and nobody's yet */
    void *context;
    struct io_conn *peer;         /* NULL: not connected, cut, or closed over there */
    struct io_listener *listener; /* in whose queue it waits */
    struct list queued;
    struct event read_event, write_event;
    struct event network_event; /* of connecting; of being accepted */
    struct buffer in;           /* arrived and not read */
    struct list incoming;       /* pieces on their way to here */
    uint64_t last_arrival_us;   /* none may arrive before it: bytes keep their order */
    uint64_t retell_us;         /* how long until readability is told again */
    uint32_t unread;            /* bytes that we wrote and the peer has not read */
    int error;
    bool connecting, failed, at_end, reading, writing, reset_is_coming;
    char own_address[IO_ADDRESS_LEN_MAX], peer_address[IO_ADDRESS_LEN_MAX];
};

/* Breaks a connection: here at once, at the other end when the news gets there. */
void conn_cut(struct io_conn *conn);

#endif
