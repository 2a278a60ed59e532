/*
 * Bringing a directory into use: make it, lock it, open LMDB in it, see that its format is ours.
 * Each step says in a sentence what is wrong and what to do about it.
 */
#include "store/store_lmdb.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/random_hex.h"

enum { SIZE_MIN_BYTES = 1 << 20 };

/* ---- the directory --------------------------------------------------------------------------- */

static int make_dir(struct lmdb_store *store, const struct complaint *complaint)
{
    struct stat status;
    if (strlen(store->data_dir) > PATH_MAX - 16)
        return lmdb_complain(complaint, -ENAMETOOLONG,
                             "the data_dir of node '%s' is too long a path", store->name);
    if (mkdir(store->data_dir, 0777) != 0 && errno != EEXIST)
        return lmdb_complain(complaint, -errno, "data directory '%s' cannot be made: %s; %s",
                             store->data_dir, strerror(errno), lmdb_remedy(errno));
    if (stat(store->data_dir, &status) != 0)
        return lmdb_complain(complaint, -errno, "data directory '%s' cannot be used: %s; %s",
                             store->data_dir, strerror(errno), lmdb_remedy(errno));
    if (!S_ISDIR(status.st_mode))
        return lmdb_complain(complaint, -ENOTDIR,
                             "data directory '%s' is not a directory; set another data_dir",
                             store->data_dir);
    return 0;
}

/* After this a power cut cannot lose the names of new files. */
static void sync_dir(const struct lmdb_store *store)
{
    int fd = open(store->data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

/* ---- LMDB ------------------------------------------------------------------------------------ */

static int configure_env(struct lmdb_store *store)
{
    unsigned flags = MDB_NOLOCK | MDB_NOTLS | MDB_NORDAHEAD | (store->is_durable ? 0 : MDB_NOSYNC);
    int rc = mdb_env_set_maxdbs(store->env, 3);
    if (rc == 0)
        rc = mdb_env_set_mapsize(store->env, store->size_max);
    return rc ? rc : mdb_env_open(store->env, store->data_dir, flags, 0666);
}

/* Pages at the end that were never written are holes that nothing refers to; but after a power cut
 * a page may be missing that something does refer to. A file of full length gives zeros there,
 * which LMDB takes for damage, where a short one would give SIGBUS. */
static int cover_last_page(struct lmdb_store *store)
{
    struct stat status;
    MDB_envinfo info;
    MDB_stat stat;
    mdb_env_info(store->env, &info);
    mdb_env_stat(store->env, &stat);
    if (fstat(store->data_fd, &status) != 0)
        return errno;
    off_t needed = (off_t)(info.me_last_pgno + 1) * (off_t)stat.ms_psize;
    if (status.st_size < needed && ftruncate(store->data_fd, needed) != 0)
        return errno;
    return 0;
}

static int open_data_fd(struct lmdb_store *store)
{
    char path[PATH_MAX];
    if (store->data_fd >= 0)
        return 0;
    lmdb_store_path(store, "data.mdb", path);
    store->data_fd = open(path, O_RDWR | O_CLOEXEC);
    return store->data_fd >= 0 ? 0 : errno;
}

/* MDB_INCOMPATIBLE for a file of another program, MDB_VERSION_MISMATCH for a format of ours that
 * is not this one, MDB_NOTFOUND for an empty file. */
static int check_format(struct lmdb_store *store, MDB_txn *txn)
{
    MDB_dbi names;
    MDB_stat stat;
    MDB_val name = {6, (void *)(uintptr_t) "format"}, data;
    int rc = mdb_dbi_open(txn, NULL, 0, &names);
    if (rc == 0)
        rc = mdb_stat(txn, names, &stat);
    if (rc == 0 && stat.ms_entries == 0)
        return MDB_NOTFOUND;
    if (rc == 0)
        rc = mdb_dbi_open(txn, "meta", 0, &store->meta);
    if (rc == 0)
        rc = mdb_get(txn, store->meta, &name, &data);
    if (rc == MDB_NOTFOUND)
        return MDB_INCOMPATIBLE;
    if (rc)
        return rc;
    snprintf(store->message, sizeof store->message, "%.*s", (int)data.mv_size,
             (const char *)data.mv_data);
    return strcmp(store->message, STORE_LMDB_FORMAT) == 0 ? 0 : MDB_VERSION_MISMATCH;
}

static int open_trees(struct lmdb_store *store, MDB_txn *txn)
{
    MDB_val name = {6, (void *)(uintptr_t) "format"};
    MDB_val data = {sizeof STORE_LMDB_FORMAT - 1, (void *)(uintptr_t)STORE_LMDB_FORMAT};
    int rc = mdb_dbi_open(txn, "meta", MDB_CREATE, &store->meta);
    if (rc == 0)
        rc = mdb_put(txn, store->meta, &name, &data, MDB_NOOVERWRITE);
    if (rc == MDB_KEYEXIST)
        rc = 0;
    if (rc == 0)
        rc = mdb_dbi_open(txn, "records", MDB_CREATE, &store->records);
    if (rc == 0)
        rc = mdb_dbi_open(txn, "expiries", MDB_CREATE, &store->expiries);
    return rc;
}

/* Made once, with the trees. */
static int read_incarnation(struct lmdb_store *store, MDB_txn *txn)
{
    char *text = store->base.incarnation;
    MDB_val name = {11, (void *)(uintptr_t) "incarnation"}, data = {STORE_INCARNATION_LEN, text};
    random_hex(store->seed, STORE_INCARNATION_LEN, text);
    int rc = mdb_put(txn, store->meta, &name, &data, MDB_NOOVERWRITE);
    if (rc != MDB_KEYEXIST)
        return rc;
    if (data.mv_size != STORE_INCARNATION_LEN)
        return MDB_CORRUPTED;
    memcpy(text, data.mv_data, STORE_INCARNATION_LEN);
    return 0;
}

/* A transaction of its own that makes the trees when the file is new. On a full disk a store with
 * all its trees still opens: nothing changes, so nothing is written. */
static int open_format(struct lmdb_store *store)
{
    MDB_txn *txn;
    int rc = mdb_txn_begin(store->env, NULL, 0, &txn);
    if (rc)
        return rc;
    rc = check_format(store, txn);
    if (rc == 0 || rc == MDB_NOTFOUND)
        rc = open_trees(store, txn);
    if (rc == 0)
        rc = read_incarnation(store, txn);
    if (rc == 0) {
        store->txn = txn;
        rc = lmdb_store_find_next_expiry(store);
        store->txn = NULL;
    }
    if (rc == 0)
        return mdb_txn_commit(txn);
    mdb_txn_abort(txn);
    return rc;
}

int lmdb_store_open_env(struct lmdb_store *store)
{
    int rc = mdb_env_create(&store->env);
    if (rc) {
        store->env = NULL;
        return rc;
    }
    rc = configure_env(store);
    if (rc == 0)
        rc = open_data_fd(store);
    if (rc == 0)
        rc = cover_last_page(store);
    if (rc == 0)
        rc = open_format(store);
    if (rc)
        lmdb_store_close_env(store);
    return rc;
}

void lmdb_store_close_env(struct lmdb_store *store)
{
    if (store->reader)
        mdb_txn_abort(store->reader);
    if (store->env)
        mdb_env_close(store->env);
    store->reader = NULL;
    store->env = NULL;
}

static int complain_of_env(struct lmdb_store *store, int rc, const struct complaint *complaint)
{
    switch (rc) {
    case MDB_VERSION_MISMATCH:
        return lmdb_complain(
            complaint, -EPROTO,
            "data directory '%s' has the format '%.64s', and this clockwise reads '%s'; "
            "use the clockwise that wrote it, or set another data_dir",
            store->data_dir, store->message[0] ? store->message : "unknown", STORE_LMDB_FORMAT);
    case MDB_INVALID:
    case MDB_INCOMPATIBLE:
        return lmdb_complain(complaint, -EPROTO,
                             "'%s/data.mdb' is not a store of clockwise; set another data_dir",
                             store->data_dir);
    case MDB_MAP_FULL:
        return lmdb_complain(complaint, -ENOSPC,
                             "the size_max of node '%s', %" PRIu64 " bytes, is too small; raise it",
                             store->name, store->size_max);
    default: break;
    }
    if (rc < 0)
        return lmdb_complain(
            complaint, -EIO,
            "'%s/data.mdb' is damaged (%s); put back a copy of the directory, or set "
            "another data_dir",
            store->data_dir, mdb_strerror(rc));
    return lmdb_complain(complaint, -rc, "data directory '%s' cannot be used: %s; %s",
                         store->data_dir, strerror(rc), lmdb_remedy(rc));
}

/* ---- after a power cut ----------------------------------------------------------------------- */

/* LMDB asserts that its pages are what they should be, and would abort. */
static void escape(MDB_env *env, const char *message)
{
    struct lmdb_store *store = mdb_env_get_userctx(env);
    if (store->can_escape)
        longjmp(store->escape, 1);
}

static int walk_cursor(MDB_cursor *cursor)
{
    MDB_val key, data;
    int rc = 0;
    while (rc == 0)
        rc = mdb_cursor_get(cursor, &key, &data, MDB_NEXT);
    return rc == MDB_NOTFOUND ? 0 : rc;
}

static int walk_guarded(struct lmdb_store *store, MDB_cursor *cursor)
{
    store->can_escape = true;
    return setjmp(store->escape) == 0 ? walk_cursor(cursor) : MDB_CORRUPTED;
}

static int check_tree(struct lmdb_store *store, MDB_dbi tree)
{
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(store->txn, tree, &cursor);
    if (rc)
        return rc;
    rc = walk_guarded(store, cursor);
    store->can_escape = false;
    mdb_cursor_close(cursor);
    return rc;
}

/* Sees that both trees hang together. Single records are looked at when they are asked for, and
 * named then. */
static int check_all(struct lmdb_store *store, const struct complaint *complaint)
{
    mdb_env_set_userctx(store->env, store);
    mdb_env_set_assert(store->env, escape);
    int status = store->base.ops->begin(&store->base, STORE_READ);
    int rc = status == STORE_OK ? check_tree(store, store->records) : MDB_CORRUPTED;
    if (rc == 0)
        rc = check_tree(store, store->expiries);
    store->base.ops->abort(&store->base);
    if (rc == 0) {
        lmdb_store_trust(store);
        return 0;
    }
    return lmdb_complain(complaint, -EIO,
                         "'%s/data.mdb' was damaged when the machine stopped (%s), which is "
                         "possible unless durability is 'always'; put back a copy of the "
                         "directory, or set another data_dir",
                         store->data_dir, mdb_strerror(rc));
}

/* ---- both ------------------------------------------------------------------------------------ */

static struct lmdb_store *make_store(const struct store_options *options)
{
    struct lmdb_store *store = calloc(1, sizeof *store);
    if (!store)
        return NULL;
    store->base.ops = &store_lmdb_ops;
    store->lock_fd = store->data_fd = -1;
    store->next_expiry_ms = UINT64_MAX;
    store->is_durable = options->is_durable;
    store->seed = options->seed;
    store->size_max = options->size_max & ~(uint64_t)0xffff; /* LMDB wants whole pages */
    store->name = strdup(options->name);
    store->data_dir = strdup(options->data_dir);
    if (store->name && store->data_dir)
        return store;
    store_lmdb_ops.close(&store->base);
    return NULL;
}

static int open_store(struct lmdb_store *store, const struct complaint *complaint)
{
    int error;
    if (store->size_max < SIZE_MIN_BYTES)
        return lmdb_complain(complaint, -EINVAL,
                             "the size_max of node '%s' is below 1 MiB; raise it", store->name);
    error = make_dir(store, complaint);
    if (error == 0)
        error = lmdb_store_lock(store, complaint);
    if (error)
        return error;
    int rc = lmdb_store_open_env(store);
    if (rc)
        return complain_of_env(store, rc, complaint);
    fdatasync(store->data_fd); /* what a killed process left in memory */
    sync_dir(store);
    return store->is_suspect ? check_all(store, complaint) : 0;
}

int store_lmdb_open(const struct store_options *options, struct store **ret_store,
                    char *ret_message, size_t message_size)
{
    const struct complaint complaint = {ret_message, message_size};
    struct lmdb_store *store = make_store(options);
    if (!store)
        return lmdb_complain(&complaint, -ENOMEM, "out of memory opening node '%s'", options->name);
    int error = open_store(store, &complaint);
    if (error) {
        store_lmdb_ops.close(&store->base);
        return error;
    }
    *ret_store = &store->base;
    return 0;
}
