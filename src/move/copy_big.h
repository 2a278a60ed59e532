/*
 * Copying one key by its value: read in chunks from the source and written anew on the target. For
 * keys that are too large for one DUMP, and for nodes that refuse each other's payloads.
 *
 * A key that fits into one chunk is written under its own name at once (three round trips). A
 * larger one grows under a temporary name, move->prefix and the key, which the target itself
 * removes when nobody has gone on with it for COPY_BIG_TTL_MS; then it gets its expiry and its name
 * (UNLINK of what was there, RENAME: neither takes longer for a large key, but that strings are
 * freed on the spot). A large string appears under the temporary name as a whole.
 *
 * The source may be written meanwhile: elements that are there all the time arrive, what is
 * written arrives or not; the dirty marks tell of it. A key that vanishes or changes its type
 * meanwhile is no failure: the target then has nothing under its name.
 *
 * What is not kept: which elements of a stream that were deleted are still pending in a group
 * (Redis itself drops them when they are claimed), the idle time of a stream's consumers, idle time
 * and frequency of the key. Values of modules are refused, and hashes whose fields have lifetimes
 * of their own when the target knows none (copy_big_fields.c).
 *
 * Bounds: one command reads or writes about MOVE_CHUNK_ELEMENTS elements or MOVE_CHUNK_BYTES, more
 * only when a single element is larger, or when the server keeps a small collection in one piece.
 */
#ifndef MOVE_COPY_BIG_H
#define MOVE_COPY_BIG_H

#include "move/job.h"

enum {
    COPY_BIG_TTL_MS = 10 * 60 * 1000,
    COPY_BIG_AT_ONCE_MAX = 16, /* with one peer: an entry of a stream is a call of its own */
};

struct copy_big;

/* Starts to copy `key` (copied) from the node number `source` of move->from to the node number
 * `target` of move->to. Waits for the throttle between chunks, not before the first one, and counts
 * every key, chunk and byte in move->progress. `done` is called once, never before this returned,
 * and the copy is freed after it; its count is 1 when the key was copied, 0 when it is gone.
 * NULL when memory is out. */
struct copy_big *copy_big_start(struct move *move, uint32_t source, uint32_t target,
                                struct slice key, job_done done, void *context);
/* Right after the start: a hash, set or sorted set of which something is left after so many chunks
 * is not copied any further. Then nothing of it stays under its temporary name, *ret_is_left (false
 * before, and there until `done`) is true, and the count is 0. */
void copy_big_leave_larger(struct copy_big *copy, uint32_t chunks_max, bool *ret_is_left);
/* Ends it early: no done is called; the temporary key stays until its time is over. Nulls the
 * pointer; NULL is fine. While the peers still exist. */
void copy_big_stop(struct copy_big **copy);

#endif
