/*
 * The commands without a network: requests go straight into call_execute(), each in a transaction
 * of its own, at a time of day that the test sets.
 */
#ifndef TESTS_STORE_ENGINE_RIG_H
#define TESTS_STORE_ENGINE_RIG_H

#include "store/call.h"
#include "store/dir_rig.h"

struct engine_rig {
    struct dir_rig dir;
    struct store *store;
    struct engine engine;
    struct session session;
    struct buffer out;
    char shown[4096]; /* the last reply as text */
};

static const struct resp_limits rig_limits = {
    .arg_count_max = 10000,
    .arg_len_max = 1 << 20,
    .inline_len_max = 64 << 10,
    .request_len_max = 4 << 20,
};

static inline void engine_rig_open(struct engine_rig *rig, uint64_t size_max)
{
    if (dir_rig_open_sized(&rig->dir, size_max, &rig->store) != 0)
        fail_msg("cannot open the store: %s", rig->dir.message);
    assert_int_equal(keyspace_init(&rig->engine.keyspace, rig->store, 1700000000000), STORE_OK);
}

static inline void engine_rig_close(struct engine_rig *rig)
{
    keyspace_fini(&rig->engine.keyspace);
    store_close(&rig->store);
}

static inline void engine_rig_start_sized(struct engine_rig *rig, uint64_t size_max)
{
    memset(rig, 0, sizeof *rig);
    dir_rig_make(&rig->dir);
    engine_rig_open(rig, size_max);
    rig->engine.id = "node-1";
    rig->engine.value_len_max = 1 << 20;
    rig->engine.reply_len_max = 2 << 20;
    rig->session = (struct session){.id = 1, .protocol = 2};
}

static inline void engine_rig_start(struct engine_rig *rig)
{
    engine_rig_start_sized(rig, 64 << 20);
}

static inline void engine_rig_stop(struct engine_rig *rig)
{
    engine_rig_close(rig);
    buffer_release(&rig->engine.listed);
    marks_release(&rig->engine.marks);
    buffer_release(&rig->out);
    dir_rig_remove(&rig->dir);
}

/* Executes and commits one request; its reply stands in rig->out. */
static inline int engine_rig_run(struct engine_rig *rig, const char *bytes, size_t len)
{
    struct resp_request request;
    struct keyspace *keyspace = &rig->engine.keyspace;
    resp_request_init(&request);
    buffer_clear(&rig->out);
    assert_int_equal(resp_request_parse(&request, bytes, len, &rig_limits), RESP_DONE);
    assert_int_equal(request.length, len);
    enum call_result result = call_execute(&rig->engine, &rig->session, &request, bytes, &rig->out);
    assert_int_not_equal(result, CALL_BROKEN);
    int status = keyspace_commit(keyspace);
    marks_keep(&rig->engine.marks);
    resp_request_release(&request);
    return status;
}

/* The reply in one line: CR LF between its parts becomes a blank. */
static inline const char *engine_rig_show(struct engine_rig *rig)
{
    size_t len = rig->out.len < sizeof rig->shown - 1 ? rig->out.len : sizeof rig->shown - 1;
    size_t to = 0;
    for (size_t i = 0; i < len; i++) {
        char c = buffer_bytes(&rig->out)[i];
        if (c == '\n')
            c = ' ';
        if (c != '\r')
            rig->shown[to++] = c;
    }
    rig->shown[to > 0 ? to - 1 : 0] = '\0';
    return rig->shown;
}

/* Executes one inline command ("SET k 'a b'") and returns its reply as one line. */
static inline const char *ask(struct engine_rig *rig, const char *command)
{
    char line[4096];
    int len = snprintf(line, sizeof line, "%s\r\n", command);
    assert_true(len > 0 && (size_t)len < sizeof line);
    assert_int_equal(engine_rig_run(rig, line, (size_t)len), STORE_OK);
    return engine_rig_show(rig);
}

static inline void pass_ms(struct engine_rig *rig, uint64_t ms)
{
    rig->engine.keyspace.now_ms += ms;
}

/* One line of a dialogue: what is asked, and what is answered. */
#define expect(rig, command, reply)                                                                \
    do {                                                                                           \
        const char *got_ = ask(rig, command);                                                      \
        if (strcmp(got_, reply) != 0)                                                              \
            fail_msg("%s\n  answered %s\n  expected %s", command, got_, reply);                    \
    } while (0)

/* Fixtures for cmocka: a rig for each test. */
static inline int rig_setup(void **state)
{
    struct engine_rig *rig = calloc(1, sizeof *rig);
    assert_non_null(rig);
    engine_rig_start(rig);
    *state = rig;
    return 0;
}

static inline int rig_teardown(void **state)
{
    engine_rig_stop(*state);
    free(*state);
    return 0;
}

#define rig_test(name) cmocka_unit_test_setup_teardown(name, rig_setup, rig_teardown)

#endif
