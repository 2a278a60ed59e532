/*
 * Errors that nodes answer, for people: what it means, what to do, and whether it makes sense to
 * try again. Pure.
 */
#ifndef MOVE_REFUSAL_H
#define MOVE_REFUSAL_H

#include "move/job.h"

/* From an error line without its "-". JOB_FAILED: it may go away by itself (LOADING, BUSY, ...);
 * JOB_REFUSED: a person has to do something first, and the sentence says what. */
enum job_result refusal_read(const char *node_id, struct slice error,
                             char ret_problem[static MOVE_PROBLEM_SIZE]);
/* What a person has to do about an error line; NULL when it may go away by itself or nobody knows.
 */
const char *refusal_remedy(struct slice error);
/* A key so that it can be shown: what is not printable becomes '?', cut with "..." at the end.
 * Returns ret_text. */
const char *refusal_printable(struct slice key, char *ret_text, size_t size);

#endif
