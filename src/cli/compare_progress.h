/*
 * A progress bar on a terminal, for work that takes longer than half a second; it
 * is gone when the work is done. On what is no terminal nothing is written.
 */
#ifndef CLI_COMPARE_PROGRESS_H
#define CLI_COMPARE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    int file;
    bool is_on, is_drawn;
    uint64_t next_ns; /* not drawn again before */
};

void progress_init(struct progress *progress, int file);
/* Call it as often as is handy: it draws ten times a second. total 0: unknown. NULL is fine. */
void progress_show(struct progress *progress, const char *what, uint64_t done, uint64_t total);
/* The same with words behind the bar, cut where the terminal ends. */
void progress_show_more(struct progress *progress, const char *what, uint64_t done, uint64_t total,
                        const char *words);
void progress_clear(struct progress *progress);

#endif
