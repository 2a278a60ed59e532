#include "cli/compare_progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum {
    WHAT_WIDTH = 24,
    BAR_WIDTH = 30,
    SHORT_WHAT_WIDTH = 8, /* where words follow, so that 80 columns have room for them */
    SHORT_BAR_WIDTH = 20,
    SHORT_LINE_WIDTH = SHORT_WHAT_WIDTH + 3 + SHORT_BAR_WIDTH + 6,
    FIRST_NS = 500000000,
    STEP_NS = 100000000
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void progress_init(struct progress *progress, int file)
{
    const char *terminal = getenv("TERM");
    bool is_dumb = terminal && strcmp(terminal, "dumb") == 0;
    *progress = (struct progress){
        .file = file, .is_on = isatty(file) && !is_dumb, .next_ns = now_ns() + FIRST_NS};
}

static void draw(int file, const char *what, uint64_t done, uint64_t total, bool is_short)
{
    int width = is_short ? SHORT_BAR_WIDTH : BAR_WIDTH;
    char bar[BAR_WIDTH + 1];
    if (total == 0) {
        dprintf(file, "\r\033[K%s: %" PRIu64, what, done);
        return;
    }
    double part = done < total ? (double)done / (double)total : 1;
    int filled = (int)(part * width);
    for (int i = 0; i < width; i++)
        bar[i] = i < filled ? '#' : '.';
    bar[width] = 0;
    dprintf(file, "\r\033[K%-*s [%s] %3.0f %%", is_short ? SHORT_WHAT_WIDTH : WHAT_WIDTH, what, bar,
            part * 100);
}

/* Where the terminal says nothing of its width, it is that of most. */
static int columns_of(int file)
{
    struct winsize size = {0};
    bool is_known = ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return is_known ? size.ws_col : 80;
}

void progress_show(struct progress *progress, const char *what, uint64_t done, uint64_t total)
{
    progress_show_more(progress, what, done, total, "");
}

void progress_show_more(struct progress *progress, const char *what, uint64_t done, uint64_t total,
                        const char *words)
{
    if (!progress || !progress->is_on)
        return;
    uint64_t now = now_ns();
    if (now < progress->next_ns)
        return;
    progress->next_ns = now + STEP_NS;
    progress->is_drawn = true;
    draw(progress->file, what, done, total, *words != 0);
    int room = columns_of(progress->file) - SHORT_LINE_WIDTH - 2;
    if (*words && room > 0)
        dprintf(progress->file, "  %.*s", room, words);
}

void progress_clear(struct progress *progress)
{
    if (progress && progress->is_drawn)
        dprintf(progress->file, "\r\033[K");
    if (progress)
        progress->is_drawn = false;
}
