/*
 * One pool's transition, as the files of the mover share it. All of it lives on the mover's loop.
 *
 * transition.c: beginning, beginning anew, pausing, cancelling, ending;
 * the steps in their order (the protocol and its reasons: docs/transitions.md):
 *   transition_look.c     nodes are looked at: a refusal leaves no trace
 *   transition_prepare.c  PREPARED: targets are cleared, workers connect to new nodes
 *   transition_track.c    TRACKING: everything is copied, then what was marked, round after round
 *   transition_big.c      large keys between two rounds
 *   transition_switch.c   FROZEN to STABLE, and the way back; until SWITCHED is stored the old
 *                         owners have everything, so every trouble leads back and never forward
 * transition_abandon.c: nodes that are gone for good, and would be waited for;
 * transition_jobs.c: a job on each of several nodes; transition_open.c: connections to the nodes;
 * transition_record.c: what is stored; transition_workers.c: what the workers are told;
 * transition_plan.c: whether a change is allowed, and the map it leads to;
 * mover.c: requests from other threads, and reports to them.
 *
 * A step is a function that starts something and names the step that follows when it is done. What
 * is under way when a transition begins anew or is cancelled must not go on: every answer that
 * comes back (acknowledgement, timer) carries the number of the run it belongs to, and jobs are
 * stopped.
 */
#ifndef MOVE_TRANSITION_H
#define MOVE_TRANSITION_H

#include "base/list.h"
#include "move/check.h"
#include "move/mover.h"

enum {
    VOID_MAX = 5,           /* begun anew so often by itself; then a person has to look */
    ROUNDS_THROTTLED = 3,   /* rounds of catching up at the throttle's pace; then at full speed */
    BIG_ROUNDS_MAX = 3,     /* rounds of large keys in a row; then they are copied while frozen */
    ESTIMATE_SAMPLE = 1000, /* keys looked at on each source */
    RETRY_FIRST_MS = 250,
    RETRY_MAX_MS = 10000,
    PAUSED_POLL_MS = 100,
};

struct transition;
typedef void (*transition_step)(struct transition *transition);

/* One node's job within a step. */
struct node_job {
    struct transition *transition;
    uint32_t node;
    struct job *job;        /* NULL: over, or waits for `retry` */
    struct io_timer *retry; /* made when first needed */
    uint64_t backoff_ms;
    bool has_failed; /* the last time that it was tried */
};

/* What a step does on several nodes. */
struct node_jobs {
    const char *doing; /* "copying from" */
    bool is_of_targets;
    bool is_repeatable; /* when the node fails the same job may be done again */
    struct job *(*start)(struct transition *transition, uint32_t node, job_done done,
                         void *context);
};

/* How far a freeze is. */
enum freeze {
    FREEZE_NONE,
    FREEZE_ACK,    /* the workers have not all acknowledged it */
    FREEZE_DRAIN,  /* the last marks are being copied */
    FREEZE_BIG,    /* large keys that were written as a whole again and again are being copied */
    FREEZE_VERIFY, /* what was copied last is compared */
    FREEZE_SWITCH, /* the switch is being stored: no way back now */
};

/* A node of one of the two maps. */
struct transition_end {
    bool is_used;     /* keys leave it, or come to it */
    bool is_given_up; /* a person said so: it is not waited for any more, and not cleared */
    struct node_facts facts;
    struct move_estimate estimate; /* of sources */
    struct key_list drained;       /* of sources: in the last round */
    struct key_list differ;        /* of sources: what a deep comparison found */
    char run_id[NODE_RUN_ID_SIZE]; /* when the copy began */
    uint64_t connection_count;     /* of its peer, when the freeze began */
};

struct transition {
    /* The pool, and its stored record. */
    struct mover *mover;
    const struct mover_options *options;
    uint32_t pool;
    const struct pool_settings *settings;
    uint64_t revision, next_transition;
    struct cw_map *map;
    char **burnt;
    size_t burnt_count;

    /* What is asked, and by whom. */
    bool is_running, is_probe; /* a probe only estimates: nothing is stored, it has no pool */
    bool is_stored; /* else it is only being looked at: what is reported is the one before */
    struct transition_info info;
    mover_answer answer;
    mover_estimated estimated;
    void *answer_context;

    /* What is under way. */
    uint64_t run;
    struct list acks; /* acknowledgements that will still come */
    transition_step put_then, put_failed;
    bool is_putting, pending_put, wants_cancel;
    uint32_t begun_count; /* nodes of the new map that were looked at, whether to start them */
    struct io_timer *timer, *budget;
    transition_step timer_then;
    uint64_t backoff_ms;
    struct node_job *jobs;
    uint32_t job_count, jobs_left;
    const struct node_jobs *job_kind;
    transition_step jobs_then, looked_then, fenced_then;
    struct job_end outcome; /* the worst of the step's jobs; count: of all */

    /* The move. */
    struct move move;
    struct transition_end *from_ends, *to_ends;
    uint64_t *bytes_in, *keys_in;
    struct throttle throttle;
    struct move_progress progress;
    struct move_counters counters;
    struct big_found found;
    size_t big_next; /* of those found: the next to copy, by big_job */
    struct job *big_job;
    transition_step big_then;
    uint32_t big_rounds; /* in a row, in each of which large keys had been written as a whole */
    uint32_t epoch, round, void_count;
    char dirty_set[MOVE_PREFIX_SIZE];  /* of `epoch` */
    char closed_set[MOVE_PREFIX_SIZE]; /* of the epoch before: being drained */
    size_t dirty_set_len, closed_set_len;
    bool is_compared;
    bool is_fenced;     /* no connection of an earlier mover can do anything any more */
    bool has_given_up;  /* a node, without that; or the mover before may have */
    char peer_name[96]; /* CLIENT SETNAME of the mover's connections */
    enum freeze freeze;
    enum move_phase told; /* what the workers were told last, and what comes then */
    transition_step told_then;
    uint64_t frozen_ns, started_ms;
};

/* ---- transition.c ---------------------------------------------------------------------------- */

/* Takes over a pool's record; NULL: none is stored yet. 0 or -ENOMEM. */
int transition_init(struct transition *transition, struct mover *mover,
                    const struct mover_options *options, uint32_t pool,
                    const struct map_record *record);
/* One that only estimates what a change of the pool would move. */
int transition_init_probe(struct transition *probe, const struct transition *of_pool);
void transition_fini(struct transition *transition);

void transition_start(struct transition *transition, const struct mover_change *change);
/* Goes on with a transition that was stored. */
void transition_resume_stored(struct transition *transition);
/* Answers by mover_answer's rules. */
int transition_tell(struct transition *transition, enum mover_verb verb,
                    const struct throttle_settings *throttle, const char **ret_text);

/* Calls a step after a time. */
void transition_later(struct transition *transition, uint64_t delay_ms, transition_step then);
/* Something did not go as it should: says so and tries a step again, ever later. */
void transition_trouble(struct transition *transition, const char *problem, transition_step again);
/* The copy is void: from PREPARED again, with other dirty sets. Pauses when it happens often. */
void transition_begin_anew(struct transition *transition, const char *why);
/* Refuses a transition that is not stored yet, answers, and forgets it. */
void transition_refuse(struct transition *transition, int status, const char *why);
/* Is over: the jobs, peers and lists go. */
void transition_end(struct transition *transition);
void transition_log(const struct transition *transition, int level, const char *event,
                    const char *text);
void transition_note(struct transition *transition, const char *text);

/* ---- transition_record.c, transition_workers.c ------------------------------------------------
 */

/* Stores the record as it is now with this state, then goes on. failed: NULL: tries until it is
 * stored. */
void transition_put(struct transition *transition, enum transition_state state,
                    transition_step then, transition_step failed);
/* Stores what changed besides the state; if not now, then with the next state. */
void transition_put_too(struct transition *transition);
/* Tells the workers; `then` (may be NULL) when all have acknowledged. */
void transition_tell_workers(struct transition *transition, enum move_phase phase,
                             transition_step then);
void transition_forget_acks(struct transition *transition);
int transition_take_record(struct transition *transition, const struct map_record *record);
/* Keeps the id of a dead node, which is never used again. 0 or -ENOMEM. */
int transition_burn(struct transition *transition, const char *id);
void transition_release_record(struct transition *transition);

/* ---- transition_abandon.c --------------------------------------------------------------------
 */

/* Gives up the nodes that the clearing of copies (when a transition was cancelled, or after the
 * switch) failed on. Answers by mover_answer's rules. */
int transition_abandon(struct transition *transition, const char **ret_text);
/* Whether nothing but the clearing of a node is waited for, which a person can give up. */
bool transition_can_abandon(const struct transition *transition);
/* Names the nodes that the jobs under way failed on, at most `size` bytes; how many they are. */
uint32_t transition_name_failed(const struct transition *transition, char *ret_names, size_t size);
/* Says which nodes are given up, if any, and what they may still hold. */
void transition_note_given_up(struct transition *transition);
/* What such a job failed of, and what can be done. */
void transition_note_waiting(struct transition *transition, const char *problem);

/* ---- the others ------------------------------------------------------------------------------ */

/* Checks a change and makes the map it leads to. 0, or a negative errno with a sentence. */
int transition_plan(const struct transition *transition, const struct mover_change *change,
                    struct cw_map **ret_to, char ret_problem[static MOVE_PROBLEM_SIZE]);
/* Whether a node of `from` is the same server as one of `to`. */
bool transition_is_same_node(const struct cw_node *a, const struct cw_node *b);

/* Starts the next node that is not in the pool yet, where such have to be started (embedded ones).
 * It may block for as long as a disk takes, so only one is started in a turn of the loop: calls
 * under way must not seem to be late. 1: one was, and there may be more; 0: there is none left;
 * -errno with a problem. */
int transition_begin_node(struct transition *transition,
                          char ret_problem[static MOVE_PROBLEM_SIZE]);
/* Makes connections and lists for info.from and info.to. 0 or -ENOMEM, or -errno with a problem. */
int transition_open(struct transition *transition, char ret_problem[static MOVE_PROBLEM_SIZE]);
void transition_close(struct transition *transition);
/* Lets nodes go (embedded ones) that are not in the map that is in force now. */
void transition_end_nodes(struct transition *transition);
/* The longest answer time of the sources, smoothed; 0: none was asked yet. */
uint64_t transition_slowest_source_us(const struct transition *transition);
/* Names the dirty set of the current attempt and epoch. */
void transition_name_set(struct transition *transition);

/* Runs a job on every node that takes part, then goes on; outcome says how it went. */
void transition_run_jobs(struct transition *transition, const struct node_jobs *kind,
                         transition_step then);
void transition_stop_jobs(struct transition *transition);
/* Ends whatever is under way; answers that still come are not listened to. */
void transition_stop_all(struct transition *transition);
/* True when the jobs of a step went well; else what follows from it has been started. */
bool transition_went_well(struct transition *transition);

/* Whether what was looked at fits together; else a sentence. */
bool transition_check(struct transition *transition, char ret_problem[static MOVE_PROBLEM_SIZE]);
/* Looks at sources and targets. */
void transition_look(struct transition *transition, transition_step then);
/* True when no connection of an earlier mover can do anything any more; else that is seen to, and
 * then comes. */
bool transition_fence(struct transition *transition, transition_step then);
/* Removes from the targets what was copied, and from the sources their dirty sets. */
void transition_clear_targets(struct transition *transition, transition_step then);
void transition_clear_marks(struct transition *transition, transition_step then);
/* Makes the next epoch's dirty set on all sources; the one before becomes the closed one once the
 * workers use the new. */
void transition_open_next_set(struct transition *transition, transition_step then);
void transition_drain_closed(struct transition *transition, transition_step then);
/* Whether jobs met big keys that are not published yet. */
bool transition_has_found(const struct transition *transition);

void step_look(struct transition *transition);
void step_prepare(struct transition *transition);
void step_track(struct transition *transition);
void step_rotate(struct transition *transition);
void step_drain(struct transition *transition);
void step_drained(struct transition *transition);
void step_freeze(struct transition *transition);
void step_unfreeze(struct transition *transition);
void step_switch(struct transition *transition);
void step_switched(struct transition *transition);
void step_abort(struct transition *transition);
/* The clearing of an abort, or after the switch, from its beginning: what is done already is
 * harmless when it is done again. */
void step_clear_again(struct transition *transition);
/* Publishes the big keys that were found and copies them; then step_rotate(). */
void step_big(struct transition *transition);
/* Whether copying the large keys that were found while writes go on leads nowhere: they are written
 * as a whole in every round, as a list is that is pushed to all the time. */
bool transition_is_chasing(const struct transition *transition);
/* Copies what was found while nothing is written. */
void transition_copy_found(struct transition *transition, transition_step then);
/* Gives that up, and says of which keys. */
void transition_give_up_found(struct transition *transition);

/* mover_watch.c: what speaks against giving up a node: it answered when it was asked last. Leaves
 * the problem alone when nothing does. */
void mover_doubt_death(const struct transition *transition,
                       char ret_problem[static MOVE_PROBLEM_SIZE]);
/* mover.c: what all transitions together may move. */
struct throttle *mover_shared_throttle(struct mover *mover);
/* mover.c: makes what is known visible to other threads. */
void mover_publish(struct transition *transition);

#endif
