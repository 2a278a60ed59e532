/*
 * The journal of a pool: what its map went through, one JSON object a line, oldest first. A line is
 * written when a transition reaches a state or gets a note. At 16 MB the file becomes the old one
 * (.1) and a new one is begun. A line that a crash cut short is skipped.
 */
#ifndef CONTROL_JOURNAL_H
#define CONTROL_JOURNAL_H

#include <stddef.h>
#include <stdint.h>

#include "control/map_folder.h"
#include "move/map_store.h"

enum { JOURNAL_LEN_MAX = 16 << 20, JOURNAL_READ_MAX = 1000, JOURNAL_WORD_SIZE = 16 };

struct journal_entry {
    uint64_t time_ms;    /* wall clock */
    uint64_t transition; /* its id; 0: none, as when a pool is made */
    uint32_t attempt;
    char kind[JOURNAL_WORD_SIZE];  /* "change"; "" with transition 0 */
    char state[JOURNAL_WORD_SIZE]; /* that was reached; "stable": the transition is over */
    uint64_t generation, revision; /* of the map and the record then */
    uint64_t keys, bytes, held_us; /* moved so far; how long writes were held at the most */
    char who[TRANSITION_WHO_SIZE], what[TRANSITION_NOTE_SIZE], note[TRANSITION_NOTE_SIZE];
};

/* "POOL.journal" */
void journal_name(const char *pool, char ret_name[static MAP_FILE_NAME_SIZE]);

/* Appends an entry; it is on the disk only after journal_sync(). 0 or a negative errno with a
 * sentence. */
int journal_append(const struct map_folder *folder, const char *pool,
                   const struct journal_entry *entry, char ret_problem[static MAP_PROBLEM_SIZE]);
int journal_sync(const struct map_folder *folder, const char *pool,
                 char ret_problem[static MAP_PROBLEM_SIZE]);

/* The last entries, at most `count` of them (and JOURNAL_READ_MAX), oldest first; free() them. No
 * journal is no entries. Any thread and process, at any time. 0 or a negative errno with a
 * sentence. */
int journal_read(const struct map_folder *folder, const char *pool, size_t count,
                 struct journal_entry **ret_entries, size_t *ret_count,
                 char ret_problem[static MAP_PROBLEM_SIZE]);

/* One line, with its newline; false when memory is out. And back: false when it is none. */
bool journal_write_entry(const struct journal_entry *entry, struct buffer *out);
bool journal_read_entry(const char *line, size_t len, struct journal_entry *ret_entry);

#endif
