#include "io/inproc.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "io/address.h"
#include "io/socket.h"

enum { QUEUE_LEN_MAX = 1024 }; /* as the backlog of a TCP listener */

struct inproc {
    struct list link;
    void (*wake)(void *context);
    void *context;
    unsigned first, queue_len;
    int queue[QUEUE_LEN_MAX]; /* a ring of sockets that wait to be accepted */
    char name[ADDRESS_NAME_LEN_MAX + 1];
};

/* The names are few and connecting is rare: a list under one lock. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static struct list registry = {&registry, &registry};

static struct inproc *find(const char *name)
{
    list_for_each (link, &registry) {
        struct inproc *inproc = list_entry(link, struct inproc, link);
        if (strcmp(inproc->name, name) == 0)
            return inproc;
    }
    return NULL;
}

static struct inproc *make(const char *name, void (*wake)(void *context), void *context)
{
    struct inproc *inproc = calloc(1, sizeof *inproc);
    size_t len = strlen(name);
    if (!inproc)
        return NULL;
    memcpy(inproc->name, name, len < sizeof inproc->name ? len : sizeof inproc->name - 1);
    inproc->wake = wake;
    inproc->context = context;
    return inproc;
}

int inproc_open(const char *name, void (*wake)(void *context), void *context,
                struct inproc **ret_inproc)
{
    struct inproc *inproc = make(name, wake, context);
    if (!inproc)
        return -ENOMEM;
    pthread_mutex_lock(&registry_lock);
    int rc = find(name) ? -EADDRINUSE : 0;
    if (rc == 0)
        list_push_back(&registry, &inproc->link);
    pthread_mutex_unlock(&registry_lock);
    if (rc == 0)
        *ret_inproc = inproc;
    else
        free(inproc);
    return rc;
}

static int take_first(struct inproc *inproc)
{
    int fd = inproc->queue[inproc->first];
    inproc->first = (inproc->first + 1) % QUEUE_LEN_MAX;
    inproc->queue_len--;
    return fd;
}

void inproc_close(struct inproc **inproc)
{
    if (!*inproc)
        return;
    pthread_mutex_lock(&registry_lock);
    list_remove(&(*inproc)->link);
    pthread_mutex_unlock(&registry_lock);
    while ((*inproc)->queue_len > 0)
        close(take_first(*inproc));
    free(*inproc);
    *inproc = NULL;
}

int inproc_accept(struct inproc *inproc)
{
    int fd = -EAGAIN;
    pthread_mutex_lock(&registry_lock);
    if (inproc->queue_len > 0)
        fd = take_first(inproc);
    pthread_mutex_unlock(&registry_lock);
    return fd;
}

static void enqueue(struct inproc *inproc, int fd)
{
    inproc->queue[(inproc->first + inproc->queue_len) % QUEUE_LEN_MAX] = fd;
    inproc->queue_len++;
    inproc->wake(inproc->context);
}

int inproc_connect(const char *name)
{
    int ends[2];
    int rc = socket_pair(ends);
    if (rc != 0)
        return rc;
    pthread_mutex_lock(&registry_lock);
    struct inproc *inproc = find(name);
    bool taken = inproc && inproc->queue_len < QUEUE_LEN_MAX;
    if (taken)
        enqueue(inproc, ends[1]);
    pthread_mutex_unlock(&registry_lock);
    if (taken)
        return ends[0];
    close(ends[0]);
    close(ends[1]);
    return -ECONNREFUSED;
}

int inproc_is_free(const char *name)
{
    pthread_mutex_lock(&registry_lock);
    int rc = find(name) ? -EADDRINUSE : 0;
    pthread_mutex_unlock(&registry_lock);
    return rc;
}
