/*
 * A real redis-server on a free port, ended by its pid.
 */
#ifndef TESTS_STORE_REDIS_RIG_H
#define TESTS_STORE_REDIS_RIG_H

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "store/node_rig.h"

struct redis_rig {
    struct dir_rig dir;
    uint16_t port;
    pid_t pid;
};

static inline void redis_rig_exec(struct redis_rig *rig)
{
    char port[8];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails must not leave it behind */
    int null = open("/dev/null", O_RDWR);
    dup2(null, 0);
    dup2(null, 1);
    snprintf(port, sizeof port, "%u", rig->port);
    execlp("redis-server", "redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "",
           "--appendonly", "no", "--databases", "1", "--proto-max-bulk-len", "8mb", "--dir",
           rig->dir.path, "--enable-debug-command", "yes", (char *)NULL);
    _exit(127);
}

/* Whether it accepts connections by now. */
static inline bool redis_rig_is_up(const struct redis_rig *rig)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons(rig->port)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_up = connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    close(fd);
    return is_up;
}

static inline void redis_rig_start(struct redis_rig *rig)
{
    memset(rig, 0, sizeof *rig);
    dir_rig_make(&rig->dir);
    rig->port = free_port();
    rig->pid = fork();
    assert_true(rig->pid >= 0);
    if (rig->pid == 0)
        redis_rig_exec(rig);
    for (int tries = 0; !redis_rig_is_up(rig); tries++) {
        if (tries == 1000 || waitpid(rig->pid, NULL, WNOHANG) != 0)
            fail_msg("redis-server does not start; is it installed (./dev setup)?");
        usleep(10000);
    }
}

static inline void redis_rig_stop(struct redis_rig *rig)
{
    kill(rig->pid, SIGKILL);
    waitpid(rig->pid, NULL, 0);
    dir_rig_remove(&rig->dir);
}

#endif
