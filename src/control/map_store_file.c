#include "control/map_store_file.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

#include "base/list.h"
#include "base/mutex.h"
#include "control/journal.h"
#include "control/log.h"
#include "control/pool_file.h"

enum { POOL_NAME_SIZE = 64, WATCHED = IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE };

/* The revision of a pool's document as we left it. */
struct known {
    struct list link;
    char pool[POOL_NAME_SIZE];
    uint64_t revision, told; /* told: what somebody else made of it, and the log has */
    struct pool_file_left left;
};

struct put {
    struct list link; /* in `asked`, then in `answered` until its callback has run */
    struct file_store *store;
    char pool[POOL_NAME_SIZE];
    struct map_record *record;
    map_store_done done;
    void *context;
    int status;
    char problem[MAP_PROBLEM_SIZE];
};

struct file_store {
    struct map_store base;
    struct io_loop *loop;
    pthread_t thread;
    int wake, watch; /* files; watch -1: the folder is not watched */
    /* The folder's locks do not tell our threads apart: whoever uses it has this, for as long as
     * the disk takes. */
    pthread_mutex_t files;
    struct map_folder folder;
    struct list known;
    /* The queues, and the end. */
    struct mutex lock;
    struct list asked, answered;
    bool is_closing, has_thread;
};

static struct file_store *store_of(struct map_store *store)
{
    return (struct file_store *)store;
}

/* ---- what is known, under `files` --------------------------------------------------------------
 */

static struct known *find_known(struct file_store *store, const char *pool)
{
    list_for_each (link, &store->known) {
        struct known *known = list_entry(link, struct known, link);
        if (strcmp(known->pool, pool) == 0)
            return known;
    }
    return NULL;
}

/* Without memory the pool is not watched. */
static void set_known(struct file_store *store, const char *pool, uint64_t revision)
{
    struct known *known = find_known(store, pool);
    if (!known && (known = calloc(1, sizeof *known))) {
        snprintf(known->pool, sizeof known->pool, "%s", pool);
        list_push_back(&store->known, &known->link);
    }
    if (known)
        known->revision = known->told = revision;
}

static int put_locked(struct file_store *store, const char *pool, const struct map_record *record,
                      char *ret_problem)
{
    struct known *known = find_known(store, pool);
    int status = pool_file_put(&store->folder, pool, record, known ? &known->left : NULL,
                               ret_problem);
    if (status == 0)
        set_known(store, pool, record->revision + 1);
    return status;
}

/* ---- answers ----------------------------------------------------------------------------------
 */

static void free_put(struct put *put)
{
    map_record_destroy(&put->record);
    free(put);
}

/* On the store's loop. */
static void answer(void *context)
{
    struct put *put = context;
    mutex_lock(&put->store->lock);
    list_remove(&put->link);
    mutex_unlock(&put->store->lock);
    put->done(put->context, put->status, put->status < 0 ? put->problem : "");
    free_put(put);
}

static bool is_closing(struct file_store *store)
{
    mutex_lock(&store->lock);
    bool is_closing = store->is_closing;
    mutex_unlock(&store->lock);
    return is_closing;
}

/* The caller waits for this answer, so it is given even when memory is out for a while. */
static void post_answer(struct file_store *store, struct put *put)
{
    const struct timespec pause = {0, 10000000};
    mutex_lock(&store->lock);
    list_push_back(&store->answered, &put->link);
    mutex_unlock(&store->lock);
    while (io_post(store->loop, answer, put) < 0 && !is_closing(store))
        nanosleep(&pause, NULL);
}

/* ---- the thread -------------------------------------------------------------------------------
 */

static void log_problem(const char *pool, const char *problem)
{
    log_event(LEVEL_WARN, "event=map_store_trouble pool=%s message=\"%s\"", pool, problem);
}

/* The answer does not wait for the journal's way to the disk: it is in the file already, and what a
 * power cut takes of it is written again at the next start. */
static void carry_out(struct file_store *store, struct put *put)
{
    char pool[POOL_NAME_SIZE], problem[MAP_PROBLEM_SIZE];
    snprintf(pool, sizeof pool, "%s", put->pool);
    pthread_mutex_lock(&store->files);
    put->status = put_locked(store, put->pool, put->record, put->problem);
    pthread_mutex_unlock(&store->files);
    if (put->status == 0 && put->problem[0])
        log_problem(put->pool, put->problem);
    post_answer(store, put); /* the loop's from here on */
    if (journal_sync(&store->folder, pool, problem) < 0)
        log_problem(pool, problem);
}

static struct put *next_put(struct file_store *store, bool *ret_is_closing)
{
    struct put *put = NULL;
    mutex_lock(&store->lock);
    *ret_is_closing = store->is_closing;
    if (!list_is_empty(&store->asked)) {
        put = list_entry(store->asked.next, struct put, link);
        list_remove(&put->link);
    }
    mutex_unlock(&store->lock);
    return put;
}

/* A file of the folder changed: ours, unless the revision is another one. */
static void look_at(struct file_store *store, const char *name)
{
    char pool[POOL_NAME_SIZE];
    const char *end = strstr(name, ".json");
    size_t len = strlen(name);
    if (!end || len < 5 || strcmp(name + len - 5, ".json") != 0 || len - 5 >= sizeof pool)
        return;
    snprintf(pool, sizeof pool, "%.*s", (int)(len - 5), name);
    pthread_mutex_lock(&store->files);
    struct known *known = find_known(store, pool);
    if (known && pool_file_is_as_left(&store->folder, pool, &known->left))
        known = NULL;
    uint64_t revision = known ? pool_file_revision(&store->folder, pool) : 0;
    if (known && revision != known->told) {
        known->told = revision;
        if (revision != known->revision)
            log_event(LEVEL_WARN,
                      "event=map_changed_elsewhere pool=%s revision=%" PRIu64 " known=%" PRIu64
                      " message=\"somebody else changed %s in %.300s; this router goes on with its "
                      "own map and can change nothing until it is started again\"",
                      pool, revision, known->revision, name, store->folder.path);
    }
    pthread_mutex_unlock(&store->files);
}

static void read_events(struct file_store *store)
{
    _Alignas(struct inotify_event) char bytes[4096];
    ssize_t len = read(store->watch, bytes, sizeof bytes);
    for (ssize_t at = 0; at < len;) {
        const struct inotify_event *event = (const struct inotify_event *)(const void *)(bytes +
                                                                                         at);
        if (event->len)
            look_at(store, event->name);
        at += (ssize_t)(sizeof *event + event->len);
    }
}

static void wait_for_something(struct file_store *store)
{
    uint64_t count;
    struct pollfd files[] = {{store->wake, POLLIN, 0}, {store->watch, POLLIN, 0}};
    poll(files, store->watch < 0 ? 1 : 2, -1);
    if (files[0].revents && read(store->wake, &count, sizeof count) < 0)
        return; /* another wake-up comes */
    if (store->watch >= 0 && files[1].revents)
        read_events(store);
}

static void *run(void *context)
{
    struct file_store *store = context;
    for (;;) {
        bool is_closing;
        struct put *put = next_put(store, &is_closing);
        if (put)
            carry_out(store, put);
        else if (is_closing)
            return NULL;
        else
            wait_for_something(store);
    }
}

static void wake(struct file_store *store)
{
    uint64_t one = 1;
    ssize_t ignored = write(store->wake, &one, sizeof one);
    (void)ignored; /* full: it is awake */
}

/* ---- the interface ----------------------------------------------------------------------------
 */

static int file_store_load(struct map_store *base, const char *pool, struct map_record **ret_record,
                           char *ret_problem, size_t problem_size)
{
    struct file_store *store = store_of(base);
    char problem[MAP_PROBLEM_SIZE];
    pthread_mutex_lock(&store->files);
    int status = pool_file_load(&store->folder, pool, ret_record, problem);
    if (status == 0)
        set_known(store, pool, (*ret_record)->revision);
    pthread_mutex_unlock(&store->files);
    if (status == 0 && problem[0])
        log_problem(pool, problem);
    snprintf(ret_problem, problem_size, "%s", status < 0 ? problem : "");
    return status;
}

/* Calls back without a put, when there is no memory for one. */
struct failed_put {
    map_store_done done;
    void *context;
};

static void answer_failed(void *context)
{
    struct failed_put *failed = context;
    failed->done(failed->context, -ENOMEM, "the map store is out of memory");
    free(failed);
}

static void fail_put(struct file_store *store, map_store_done done, void *context)
{
    struct failed_put *failed = malloc(sizeof *failed);
    if (!failed)
        return;
    *failed = (struct failed_put){done, context};
    if (io_post(store->loop, answer_failed, failed) < 0)
        free(failed);
}

static void file_store_put(struct map_store *base, const char *pool,
                           const struct map_record *record, map_store_done done, void *context)
{
    struct file_store *store = store_of(base);
    struct put *put = calloc(1, sizeof *put);
    if (put)
        put->record = map_record_copy(record);
    if (!put || !put->record) {
        free(put);
        fail_put(store, done, context);
        return;
    }
    put->store = store;
    put->done = done;
    put->context = context;
    snprintf(put->pool, sizeof put->pool, "%s", pool);
    mutex_lock(&store->lock);
    list_push_back(&store->asked, &put->link);
    mutex_unlock(&store->lock);
    wake(store);
}

static void free_puts(struct list *puts)
{
    list_for_each (link, puts) {
        list_remove(link);
        free_put(list_entry(link, struct put, link));
    }
}

static void stop_thread(struct file_store *store)
{
    if (!store->has_thread)
        return;
    mutex_lock(&store->lock);
    store->is_closing = true;
    mutex_unlock(&store->lock);
    wake(store);
    pthread_join(store->thread, NULL);
}

static void file_store_close(struct map_store *base)
{
    struct file_store *store = store_of(base);
    stop_thread(store);
    free_puts(&store->asked);
    free_puts(&store->answered);
    list_for_each (link, &store->known) {
        list_remove(link);
        pool_file_forget(&list_entry(link, struct known, link)->left);
        free(list_entry(link, struct known, link));
    }
    if (store->wake >= 0)
        close(store->wake);
    if (store->watch >= 0)
        close(store->watch);
    map_folder_close(&store->folder);
    pthread_mutex_destroy(&store->files);
    mutex_fini(&store->lock);
    free(store);
}

static const struct map_store_ops ops = {file_store_load, file_store_put, file_store_close};

static void start_watching(struct file_store *store)
{
    store->watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (store->watch >= 0 && inotify_add_watch(store->watch, store->folder.path, WATCHED) >= 0)
        return;
    log_event(LEVEL_WARN,
              "event=map_store_not_watched message=\"%s: whether somebody else changes the maps is "
              "noticed at the next change only\"",
              strerror(errno));
    if (store->watch >= 0)
        close(store->watch);
    store->watch = -1;
}

static int start_thread(struct file_store *store, char *ret_problem)
{
    store->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int error = store->wake < 0 ? errno : pthread_create(&store->thread, NULL, run, store);
    if (error) {
        snprintf(ret_problem, MAP_PROBLEM_SIZE, "map store %.500s: no thread: %s; raise the limits",
                 store->folder.path, strerror(error));
        return -error;
    }
    pthread_setname_np(store->thread, "map store");
    store->has_thread = true;
    return 0;
}

int map_store_file_open(const char *path, struct io_loop *loop, struct map_store **ret_store,
                        char ret_problem[static MAP_PROBLEM_SIZE])
{
    struct file_store *store = calloc(1, sizeof *store);
    if (!store) {
        snprintf(ret_problem, MAP_PROBLEM_SIZE, "out of memory");
        return -ENOMEM;
    }
    store->base.ops = &ops;
    store->loop = loop;
    store->wake = store->watch = -1;
    pthread_mutex_init(&store->files, NULL);
    mutex_init(&store->lock);
    list_init(&store->known);
    list_init(&store->asked);
    list_init(&store->answered);
    int status = map_folder_open(path, &store->folder, ret_problem);
    if (status == 0)
        status = map_folder_claim(&store->folder, ret_problem);
    if (status == 0) {
        start_watching(store);
        status = start_thread(store, ret_problem);
    }
    if (status < 0)
        file_store_close(&store->base);
    else
        *ret_store = &store->base;
    return status;
}

int map_store_file_put_now(struct map_store *base, const char *pool,
                           const struct map_record *record,
                           char ret_problem[static MAP_PROBLEM_SIZE])
{
    struct file_store *store = store_of(base);
    pthread_mutex_lock(&store->files);
    int status = put_locked(store, pool, record, ret_problem);
    pthread_mutex_unlock(&store->files);
    if (status == 0)
        journal_sync(&store->folder, pool, ret_problem);
    return status;
}

const struct map_folder *map_store_file_folder(const struct map_store *store)
{
    return &((const struct file_store *)store)->folder;
}
