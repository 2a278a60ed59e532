/*
 * A loop with a thread that runs it. What belongs to the loop is made before runner_start() and
 * ended after runner_stop(), both on the caller's thread; in between only the loop's thread touches
 * it.
 */
#ifndef CONTROL_RUNNER_H
#define CONTROL_RUNNER_H

#include <pthread.h>
#include <stdbool.h>

#include "io/io.h"

struct runner {
    struct io_loop *loop;
    pthread_t thread;
    bool is_running;
};

/* 0 or a negative errno. A runner of all zeros may be stopped and released. */
int runner_init(struct runner *runner);
/* `name` is shown by ps and gdb: at most 15 bytes. */
int runner_start(struct runner *runner, const char *name);
void runner_stop(struct runner *runner);
void runner_release(struct runner *runner);

#endif
