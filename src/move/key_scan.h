/*
 * Walks through all keys of a node, a page at a time. A key that is there all the time comes at
 * least once, some come twice.
 */
#ifndef MOVE_KEY_SCAN_H
#define MOVE_KEY_SCAN_H

#include "move/job_internal.h"

enum { KEY_SCAN_CURSOR_SIZE = 24 };

/* Part of the job that it works for. */
struct key_scan {
    struct job *job;
    struct peer *peer;
    /* Each key of a page, valid during the call; own keys too. */
    void (*on_key)(struct job *job, struct slice key);
    /* After the page: is_over when it was the last. Somewhen calls key_scan_next(). */
    void (*on_page)(struct job *job);
    char cursor[KEY_SCAN_CURSOR_SIZE];
    bool is_over, is_asked;
};

/* Begins at `cursor` ("0", or a random one: the walk then ends at the same last page). */
void key_scan_init(struct key_scan *scan, struct job *job, struct peer *peer, const char *cursor);
/* Asks for the next page. Ends the job when that fails. */
void key_scan_next(struct key_scan *scan);

#endif
