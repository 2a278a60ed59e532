/*
 * Group commit. A batch is what was read in one turn: it is executed in one transaction, and when
 * that fails (the store is full, the disk refuses) it is taken back as if nothing had been and
 * executed again with a transaction for each command. So only those commands get an error that fail
 * on their own, and no reply is ever sent for something that was not committed.
 */
#include "store/node.h"

/* ---- one connection -------------------------------------------------------------------------- */

static void mark(struct conn *conn)
{
    conn->executed = 0;
    conn->out_mark = conn->out.len;
    conn->session_mark = conn->session;
}

static void rewind_to_mark(struct conn *conn)
{
    conn->executed = 0;
    conn->out.len = conn->out_mark;
    conn->session = conn->session_mark;
    conn->is_broken = false;
    resp_request_reset(&conn->request);
}

/* After what is not RESP nothing else can be understood. */
static void refuse_input(struct conn *conn)
{
    conn->session.is_closing = true;
    conn->executed = conn->in.len;
    if (!resp_write_errorf(&conn->out, "ERR %s", conn->request.reason))
        conn->is_broken = true;
    resp_request_reset(&conn->request);
}

/* Whether another request of the connection is complete, and its turn. */
static bool next_request(struct conn *conn)
{
    size_t left = conn->in.len - conn->executed;
    if (conn->session.is_closing || conn->is_broken || conn->is_killed || left == 0)
        return false;
    if (conn->out.len >= NODE_OUT_LEN_MAX) {
        conn->is_held = true; /* and goes on with what it has read when enough was sent */
        return false;
    }
    switch (resp_request_parse(&conn->request, buffer_bytes(&conn->in) + conn->executed, left,
                               &conn->node->limits)) {
    case RESP_DONE: return true;
    case RESP_MORE: return false;
    case RESP_BAD: break;
    }
    refuse_input(conn);
    return false;
}

static enum call_result execute(struct conn *conn)
{
    const char *bytes = buffer_bytes(&conn->in) + conn->executed;
    if (conn->request.arg_count == 0)
        return CALL_DONE; /* an empty line or array: Redis passes it over, too */
    return call_execute(&conn->node->engine, &conn->session, &conn->request, bytes, &conn->out);
}

static void step_over(struct conn *conn)
{
    conn->executed += conn->request.length;
    resp_request_reset(&conn->request);
}

/* ---- all in one transaction ------------------------------------------------------------------ */

/* False: the transaction is lost. */
static bool execute_grouped(struct conn *conn)
{
    while (next_request(conn)) {
        enum call_result result = execute(conn);
        if (result == CALL_LOST)
            return false;
        conn->is_broken = result == CALL_BROKEN;
        step_over(conn);
    }
    return true;
}

static bool run_grouped(struct embedded_node *node, struct list *batch)
{
    list_for_each (link, batch) {
        if (!execute_grouped(list_entry(link, struct conn, ready))) {
            keyspace_abort(&node->engine.keyspace);
            return false;
        }
    }
    return keyspace_commit(&node->engine.keyspace) == STORE_OK;
}

/* The marks follow the transaction: kept with it, or undone. */
static bool settle_marks(struct engine *engine, bool is_kept)
{
    if (is_kept)
        marks_keep(&engine->marks);
    else
        marks_undo(&engine->marks);
    return is_kept;
}

/* ---- each on its own ------------------------------------------------------------------------- */

/* Executes and commits one request. An enum store_status; on failure nothing is left of it. */
static int try_single(struct conn *conn, enum store_mode mode)
{
    struct keyspace *keyspace = &conn->node->engine.keyspace;
    size_t out_start = conn->out.len;
    int status;
    if (mode == STORE_FREE)
        keyspace_begin(keyspace, STORE_FREE); /* a failure stays, and the call meets it */
    enum call_result result = execute(conn);
    if (result == CALL_LOST) {
        status = keyspace->status;
        keyspace_abort(keyspace);
    } else {
        status = keyspace_commit(keyspace);
        conn->is_broken = result == CALL_BROKEN;
    }
    settle_marks(&conn->node->engine, status >= 0);
    if (status < 0)
        conn->out.len = out_start;
    return status;
}

static void execute_single(struct conn *conn)
{
    struct engine *engine = &conn->node->engine;
    struct store *store = conn->node->store;
    const char *bytes = buffer_bytes(&conn->in) + conn->executed;
    int status = try_single(conn, STORE_WRITE);
    if (status == STORE_FULL && call_frees_room(&conn->request, bytes))
        status = try_single(conn, STORE_FREE);
    if (status < 0) {
        engine->write_errors++;
        if (!resp_write_error(&conn->out, store->ops->explain(store, status)))
            conn->is_broken = true;
    }
    step_over(conn);
}

static void run_singly(struct list *batch)
{
    list_for_each (link, batch) {
        struct conn *conn = list_entry(link, struct conn, ready);
        while (next_request(conn))
            execute_single(conn);
    }
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Moves ready connections into a batch, up to its size. */
static void gather(struct embedded_node *node, struct list *batch)
{
    size_t bytes = 0;
    list_init(batch);
    list_for_each (link, &node->ready) {
        struct conn *conn = list_entry(link, struct conn, ready);
        if (bytes >= NODE_BATCH_BYTES_MAX)
            break;
        bytes += conn->in.len;
        list_remove(link);
        list_push_back(batch, link);
        mark(conn);
    }
}

static void settle(struct list *batch)
{
    list_for_each (link, batch) {
        struct conn *conn = list_entry(link, struct conn, ready);
        list_remove(link);
        buffer_take(&conn->in, conn->executed);
        buffer_trim(&conn->in, NODE_KEEP_BYTES);
        conn->executed = 0;
        conn_want_send(conn);
    }
}

static void run_batch(struct embedded_node *node)
{
    struct list batch;
    uint64_t commands = node->engine.commands;
    gather(node, &batch);
    node->engine.keyspace.now_ms = io_wall_ms(node->loop);
    if (!settle_marks(&node->engine, run_grouped(node, &batch))) {
        node->engine.commands = commands;
        list_for_each (link, &batch)
            rewind_to_mark(list_entry(link, struct conn, ready));
        run_singly(&batch);
    }
    settle(&batch);
}

void node_run_batches(struct embedded_node *node)
{
    while (!list_is_empty(&node->ready))
        run_batch(node);
}
