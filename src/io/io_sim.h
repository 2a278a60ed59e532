/*
 * The simulated network: many loops in one thread, one clock that jumps from event to event, and
 * faults drawn from one seed, so that a run can be had again exactly. Delays, cut connections,
 * reads and writes cut at any byte, and nodes that stop answering are all made here.
 */
#ifndef IO_IO_SIM_H
#define IO_IO_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "io/io.h"

struct io_sim_options {
    uint64_t seed;
    uint32_t delay_min_us, delay_max_us; /* of each piece of bytes on its way */
    uint32_t split_permille;  /* how often a read or write is cut short, at a random byte */
    uint32_t cut_per_million; /* how often a piece on its way cuts its connection instead */
    uint32_t window_bytes;    /* what a connection holds before io_write() is short */
};

/* Starts a new world (the old one must be empty). Loops are then made with io_loop_create(). */
void io_sim_begin(const struct io_sim_options *options);
/* Frees the world; loops must have been destroyed. */
void io_sim_end(void);

/* Runs until the time has passed, until nothing can happen any more, or until *stop is set (stop
 * may be NULL). Returns the number of events. Time is virtual: no real waiting. */
uint64_t io_sim_run(uint64_t duration_ms, const bool *stop);
uint64_t io_sim_now_us(void);
/* A running hash of every event so far: equal for equal runs. */
uint64_t io_sim_trace(void);

/* Changes the faults from now on (the seed is not read again). */
void io_sim_set(const struct io_sim_options *options);
/* A stopped address accepts and swallows bytes but its loop sees nothing, as under SIGSTOP;
 * resuming delivers what had arrived. */
void io_sim_stop(const char *address);
void io_sim_resume(const char *address);
/* The same for one loop, as when its thread gets no processor for a while. */
void io_sim_stop_loop(struct io_loop *loop);
void io_sim_resume_loop(struct io_loop *loop);
/* Cuts every connection of a listener's address, and refuses new ones until io_sim_revive(). */
void io_sim_kill(const char *address);
void io_sim_revive(const char *address);

#endif
