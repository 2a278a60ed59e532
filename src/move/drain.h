/*
 * Emptying a dirty set. drain.c takes the marks and has whole keys copied; drain_elements.c brings
 * over single elements of big keys, and their expiry.
 */
#ifndef MOVE_DRAIN_H
#define MOVE_DRAIN_H

#include "move/copier.h"

enum {
    DRAIN_PAGE = 512,       /* marks taken at once */
    DRAIN_GROUP = 64,       /* elements of one key that are read at once */
    DRAIN_GROUPS = 8,       /* such groups under way */
    DRAIN_ELEMENT_HEAD = 5, /* 'e' and the length of the key */
    DRAIN_EXPIRIES = 64,    /* big keys whose expiry is asked for at once */
};

struct drain;
struct element_type;

/* Some elements of one key on their way; the context of the calls about them. */
struct element_group {
    struct drain *drain;
    bool is_busy;
    uint32_t target;
    size_t from, count; /* marks in the sorted order */
    const struct element_type *type;
    int64_t times_ms[DRAIN_GROUP]; /* lifetimes of fields; below 0: none */
};

/* A big key whose expiry is brought over. */
struct element_expiry {
    struct drain *drain;
    struct slice key; /* of move->big */
    uint32_t target;
};

struct drain {
    struct job job;
    uint32_t source;
    struct peer *peer;
    struct buffer set; /* its name */
    struct key_list *drained;
    uint64_t expected, taken;          /* members; by SCARD, and popped */
    bool has_sentinel, is_empty;       /* is_empty: the last page was not full */
    void (*next)(struct drain *drain); /* when nothing of this step is under way */
    /* whole keys of a page */
    struct key_list keys;
    size_t at;
    struct copier copier;
    /* elements of a page */
    struct key_list marks;
    struct buffer order; /* a uint32_t a mark: sorted by key */
    size_t element_at;   /* in the order: the next one to be read */
    uint32_t groups_busy;
    struct element_group groups[DRAIN_GROUPS];
    /* expiry */
    size_t big_at;
    uint32_t expiries_busy;
    struct big_keys *big; /* a reference: the list as it was at the start */
    struct element_expiry expiries[DRAIN_EXPIRIES];
};

/* Takes a mark that is an element's. False when it is none. */
bool drain_add_element(struct drain *drain, struct slice mark);
/* Brings over what was added, and then calls drain->next. */
void drain_elements(struct drain *drain);
/* Sets the expiry of all big keys of this source, and then calls drain->next. */
void drain_expiries(struct drain *drain);
/* For verification. */
void drain_note(struct drain *drain, struct slice key);

#endif
