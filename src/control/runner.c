#include "control/runner.h"

static void *run(void *context)
{
    struct runner *runner = context;
    io_loop_run(runner->loop);
    return NULL;
}

int runner_init(struct runner *runner)
{
    *runner = (struct runner){0};
    return io_loop_create(&runner->loop);
}

int runner_start(struct runner *runner, const char *name)
{
    int error = pthread_create(&runner->thread, NULL, run, runner);
    if (error)
        return -error;
    pthread_setname_np(runner->thread, name);
    runner->is_running = true;
    return 0;
}

void runner_stop(struct runner *runner)
{
    if (!runner->is_running)
        return;
    io_loop_stop(runner->loop);
    pthread_join(runner->thread, NULL);
    runner->is_running = false;
}

void runner_release(struct runner *runner)
{
    runner_stop(runner);
    io_loop_destroy(&runner->loop);
}
