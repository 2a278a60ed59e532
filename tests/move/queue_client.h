/*
 * A queue under changes: one connection pushes numbered elements, some at a time, another waits for
 * them with BLPOP or BRPOP: always, or now and then, so that elements gather. Each comes out once.
 * What is not known is allowed for: an element whose push failed may be there or not, and each wait
 * that ended with an error, or with its connection, may have taken one element that nobody saw.
 */
#ifndef TESTS_MOVE_QUEUE_CLIENT_H
#define TESTS_MOVE_QUEUE_CLIENT_H

#include "move/transition_world.h"

enum { QUEUE_ELEMENTS_MAX = 4000 };

struct queue_end {
    struct queue *queue;
    bool is_popping;
    struct io_conn *conn;
    struct io_timer *timer;
    struct buffer in, out;
    bool is_connected, is_asking;
    bool is_resting; /* after an error, until the timer comes */
};

struct queue {
    char key[16];
    struct io_loop *loop;
    struct random random;
    struct queue_end pushing, popping;
    bool is_slow;                        /* it is not waited for all the time */
    uint32_t first_asked;                /* the first element of the last push */
    uint32_t pushes;                     /* elements 1 .. pushes were tried */
    bool is_certain[QUEUE_ELEMENTS_MAX]; /* its push was acknowledged */
    uint8_t popped[QUEUE_ELEMENTS_MAX];  /* how often it came out */
    uint64_t errors, unseen, pops, nils;
    bool is_stopped;
    char wrong[200];
};

static inline void queue_event(void *context, int events);

static inline void queue_connect(struct queue_end *end)
{
    end->is_connected = end->is_asking = false;
    buffer_clear(&end->in);
    buffer_clear(&end->out);
    if (io_connect(end->queue->loop, "router:7400", queue_event, end, &end->conn) < 0)
        io_timer_start(end->timer, 10);
}

static inline void queue_flush(struct queue_end *end)
{
    while (end->conn && end->is_connected && end->out.len) {
        struct iovec part = {buffer_bytes(&end->out), end->out.len};
        ssize_t written = io_write(end->conn, &part, 1);
        if (written <= 0)
            return;
        buffer_take(&end->out, (size_t)written);
    }
}

static inline void queue_ask(struct queue_end *end)
{
    struct queue *queue = end->queue;
    char timeout[16];
    if (queue->is_stopped || end->is_asking || queue->pushes + 10 >= QUEUE_ELEMENTS_MAX)
        return;
    if (end->is_popping) {
        uint64_t ms = random_below(&queue->random, 4) ? random_below(&queue->random, 400) : 0;
        snprintf(timeout, sizeof timeout, "0.%03u", (unsigned)ms);
        buffer_printf(&end->out, "%s %s %s\r\n",
                      random_below(&queue->random, 2) ? "BLPOP" : "BRPOP", queue->key, timeout);
    } else {
        buffer_printf(&end->out, "RPUSH %s", queue->key);
        queue->first_asked = queue->pushes + 1;
        for (uint64_t more = random_below(&queue->random, 10); more < 10; more++)
            buffer_printf(&end->out, " %u", ++queue->pushes);
        buffer_append_text(&end->out, "\r\n");
    }
    end->is_asking = true;
    queue_flush(end);
}

/* The wait is over and nobody saw what it took. */
static inline void queue_unseen(struct queue_end *end)
{
    end->queue->unseen += end->is_popping && end->is_asking;
}

static inline void queue_popped(struct queue *queue, const char *reply, size_t len)
{
    /* "*2", the key, the element: its number stands before the last line end */
    size_t at = len - 2;
    while (at > 0 && reply[at - 1] != '\n')
        at--;
    uint64_t number = strtoull(reply + at, NULL, 10);
    if (number == 0 || number > queue->pushes)
        snprintf(queue->wrong, sizeof queue->wrong, "%s: a wrong reply: %.*s", queue->key,
                 (int)(len < 100 ? len : 100), reply);
    else if (++queue->popped[number] > 1)
        snprintf(queue->wrong, sizeof queue->wrong, "%s: element %u came out twice", queue->key,
                 (unsigned)number);
    queue->pops++;
}

static inline void queue_take_reply(struct queue_end *end, const char *reply, size_t len)
{
    struct queue *queue = end->queue;
    if (reply[0] == '-') {
        queue->errors++;
        queue_unseen(end);
        if (strncmp(reply, "-NODEDOWN", 9) != 0)
            snprintf(queue->wrong, sizeof queue->wrong, "%s: an error: %.*s", queue->key,
                     (int)(len < 150 ? len : 150), reply);
    } else if (!end->is_popping) {
        for (uint32_t i = queue->first_asked; i <= queue->pushes; i++)
            queue->is_certain[i] = true;
    } else if (reply[1] == '-') {
        queue->nils++;
    } else {
        queue_popped(queue, reply, len);
    }
    end->is_asking = false;
    end->is_resting = reply[0] == '-';
}

static inline void queue_read(struct queue_end *end)
{
    char bytes[512];
    struct resp_scanner scanner;
    ssize_t got = io_read(end->conn, bytes, sizeof bytes);
    if (got == -EAGAIN)
        return;
    if (got <= 0) {
        queue_unseen(end);
        io_close(&end->conn);
        io_timer_start(end->timer, 5);
        return;
    }
    buffer_append(&end->in, bytes, (size_t)got);
    resp_scanner_init(&scanner);
    if (resp_scan(&scanner, buffer_bytes(&end->in), end->in.len, 1 << 20) != RESP_DONE)
        return;
    queue_take_reply(end, buffer_bytes(&end->in), scanner.position);
    buffer_clear(&end->in);
}

static inline void queue_rest(struct queue_end *end)
{
    uint64_t longest_ms = end->is_popping ? 20 : 150;
    io_timer_start(end->timer,
                   end->is_resting ? 50 : 1 + random_below(&end->queue->random, longest_ms));
}

static inline void queue_event(void *context, int events)
{
    struct queue_end *end = context;
    if (events & IO_WRITABLE)
        end->is_connected = true;
    if (events & IO_READABLE)
        queue_read(end);
    if (!end->conn)
        return;
    queue_flush(end);
    if (end->is_popping && end->is_connected && !end->is_resting && !end->queue->is_slow)
        queue_ask(end);
    queue_rest(end);
}

static inline void queue_timer(void *context)
{
    struct queue_end *end = context;
    if (!end->conn) {
        queue_connect(end);
        return;
    }
    end->is_resting = false;
    if (end->is_connected)
        queue_ask(end);
    queue_rest(end);
}

static inline void queue_end_init(struct queue_end *end, struct queue *queue, bool is_popping)
{
    *end = (struct queue_end){.queue = queue, .is_popping = is_popping};
    CW_ASSERT(io_timer_create(queue->loop, queue_timer, end, &end->timer) == 0);
    queue_connect(end);
}

static inline void queue_init(struct queue *queue, uint32_t number, uint64_t seed)
{
    *queue = (struct queue){.random = {seed * 77 + number}, .is_slow = number % 2};
    snprintf(queue->key, sizeof queue->key, "queue%u", number);
    CW_ASSERT(io_loop_create(&queue->loop) == 0);
    queue_end_init(&queue->pushing, queue, false);
    queue_end_init(&queue->popping, queue, true);
}

static inline void queue_end_fini(struct queue_end *end)
{
    io_close(&end->conn);
    io_timer_destroy(&end->timer);
    buffer_release(&end->in);
    buffer_release(&end->out);
}

static inline void queue_fini(struct queue *queue)
{
    queue_end_fini(&queue->pushing);
    queue_end_fini(&queue->popping);
    io_loop_destroy(&queue->loop);
}

/* Checks the queue against what its owner still has of it (NULL: nothing). Writes what is wrong. */
static inline void queue_check(struct queue *queue, const struct memory_item *left)
{
    uint64_t lost = 0;
    size_t left_count = left ? left->value.value_count : 0;
    for (size_t i = 0; i < left_count; i++) {
        uint64_t number = strtoull(left->value.values[i].ptr, NULL, 10);
        if (number == 0 || number > queue->pushes || ++queue->popped[number] > 1)
            snprintf(queue->wrong, sizeof queue->wrong, "%s: element %u is there, and came out",
                     queue->key, (unsigned)number);
    }
    for (uint32_t i = 1; i <= queue->pushes; i++)
        lost += queue->is_certain[i] && !queue->popped[i];
    if (lost > queue->unseen && !queue->wrong[0])
        snprintf(queue->wrong, sizeof queue->wrong,
                 "%s: %u elements are lost, and %u waits ended unseen", queue->key, (unsigned)lost,
                 (unsigned)queue->unseen);
    if (left_count && queue->popping.is_asking && !queue->wrong[0])
        snprintf(queue->wrong, sizeof queue->wrong,
                 "%s: a client waits, and %zu elements are there", queue->key, left_count);
}

#endif
