/* The laws of a store, on the LMDB driver.
 * covers: store/store_lmdb, store/store_key */
#include <clockwise/clockwise.h>

#include "base/random.h"
#include "store/dir_rig.h"
#include "store/store_key.h"
#include "store/store_lmdb.h"

struct fixture {
    struct dir_rig dir;
    struct store *store;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    dir_rig_make(&fixture->dir);
    fixture->store = dir_rig_open(&fixture->dir);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;
    store_close(&fixture->store);
    dir_rig_remove(&fixture->dir);
    free(fixture);
    return 0;
}

static void begin(struct fixture *fixture, enum store_mode mode)
{
    assert_int_equal(fixture->store->ops->begin(fixture->store, mode), STORE_OK);
}

static void commit(struct fixture *fixture)
{
    assert_int_equal(fixture->store->ops->commit(fixture->store), STORE_OK);
}

static void put_at(struct fixture *fixture, struct slice key, const char *value, uint64_t expire_ms)
{
    const struct record record = {.hlc = 1, .expire_ms = expire_ms, .value = text_slice(value)};
    assert_int_equal(fixture->store->ops->put(fixture->store, key, &record), STORE_OK);
}

static void put(struct fixture *fixture, const char *key, const char *value)
{
    put_at(fixture, text_slice(key), value, 0);
}

/* The value as text; "(none)" without one. */
static const char *get(struct fixture *fixture, struct slice key)
{
    static char text[256];
    struct record record;
    int status = fixture->store->ops->get(fixture->store, key, true, &record);
    if (status == STORE_NONE)
        return "(none)";
    assert_int_equal(status, STORE_OK);
    snprintf(text, sizeof text, "%.*s", (int)record.value.len, record.value.ptr);
    return text;
}

static void what_is_put_is_there_until_it_is_removed(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, STORE_WRITE);
    put(fixture, "a", "1");
    put(fixture, "a", "2");
    put(fixture, "", "empty");
    assert_string_equal(get(fixture, text_slice("a")), "2");
    commit(fixture);
    begin(fixture, STORE_READ);
    assert_string_equal(get(fixture, text_slice("a")), "2");
    assert_string_equal(get(fixture, text_slice("")), "empty");
    assert_string_equal(get(fixture, text_slice("b")), "(none)");
    commit(fixture);
    begin(fixture, STORE_WRITE);
    assert_int_equal(fixture->store->ops->remove(fixture->store, text_slice("a")), STORE_OK);
    assert_int_equal(fixture->store->ops->remove(fixture->store, text_slice("a")), STORE_NONE);
    assert_string_equal(get(fixture, text_slice("a")), "(none)");
    commit(fixture);
}

static void an_aborted_transaction_leaves_nothing(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, STORE_WRITE);
    put(fixture, "a", "1");
    commit(fixture);
    begin(fixture, STORE_WRITE);
    put(fixture, "a", "2");
    put(fixture, "b", "2");
    fixture->store->ops->abort(fixture->store);
    begin(fixture, STORE_READ);
    assert_string_equal(get(fixture, text_slice("a")), "1");
    assert_string_equal(get(fixture, text_slice("b")), "(none)");
    commit(fixture);
}

static void what_was_committed_is_there_after_reopening(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, STORE_WRITE);
    put(fixture, "a", "1");
    commit(fixture);
    begin(fixture, STORE_WRITE);
    put(fixture, "b", "lost");
    store_close(&fixture->store);
    fixture->store = dir_rig_open(&fixture->dir);
    begin(fixture, STORE_READ);
    assert_string_equal(get(fixture, text_slice("a")), "1");
    assert_string_equal(get(fixture, text_slice("b")), "(none)");
    commit(fixture);
}

/* LMDB gives an environment up when a meta page could not be written. */
static void an_environment_that_was_given_up_is_opened_again(void **state)
{
    struct fixture *fixture = *state;
    char away[RIG_PATH_MAX];
    begin(fixture, STORE_WRITE);
    put_at(fixture, text_slice("a"), "1", 5000);
    commit(fixture);
    lmdb_store_close_env((struct lmdb_store *)fixture->store);
    begin(fixture, STORE_READ);
    assert_string_equal(get(fixture, text_slice("a")), "1");
    commit(fixture);
    /* While it cannot be opened there are errors; afterwards it is as before. */
    snprintf(away, sizeof away, "%.400s.away", fixture->dir.path);
    lmdb_store_close_env((struct lmdb_store *)fixture->store);
    assert_int_equal(rename(fixture->dir.path, away), 0);
    assert_int_equal(fixture->store->ops->begin(fixture->store, STORE_WRITE), STORE_DISK);
    assert_non_null(strstr(fixture->store->ops->explain(fixture->store, STORE_DISK),
                           "MISCONF node 'node-1' cannot write to its data directory"));
    assert_int_equal(rename(away, fixture->dir.path), 0);
    begin(fixture, STORE_WRITE);
    assert_string_equal(get(fixture, text_slice("a")), "1");
    commit(fixture);
}

/* ---- order ----------------------------------------------------------------------------------- */

enum { KEY_COUNT = 2000 };

struct seen {
    uint64_t last_hash, from, count;
    uint64_t count_max;
};

static bool see(void *context, uint64_t hash, struct slice key, const struct record *record)
{
    struct seen *seen = context;
    assert_non_null(record);
    assert_int_equal(hash, cw_hash_tagged(key.ptr, key.len));
    assert_true(hash >= seen->last_hash && hash >= seen->from);
    seen->last_hash = hash;
    return ++seen->count < seen->count_max;
}

static void put_many(struct fixture *fixture)
{
    char key[32];
    begin(fixture, STORE_WRITE);
    for (int i = 0; i < KEY_COUNT; i++) {
        snprintf(key, sizeof key, i % 3 ? "key-%d" : "{tag-%d}x", i);
        put(fixture, key, "v");
    }
    commit(fixture);
}

static void a_walk_goes_by_the_hash_that_places_keys(void **state)
{
    struct fixture *fixture = *state;
    struct seen seen = {.count_max = UINT64_MAX};
    put_many(fixture);
    begin(fixture, STORE_READ);
    assert_int_equal(fixture->store->ops->walk(fixture->store, 0, see, &seen), STORE_OK);
    assert_int_equal(seen.count, KEY_COUNT);
    commit(fixture);
}

/* Every range of hashes is one run of the store: the parts of the hash space add up. */
static void ranges_are_contiguous(void **state)
{
    struct fixture *fixture = *state;
    struct random random = {7};
    put_many(fixture);
    begin(fixture, STORE_READ);
    for (int i = 0; i < 100; i++) {
        uint64_t from = random_next(&random), before = 0;
        struct seen all = {.count_max = UINT64_MAX}, rest = {.from = from, .count_max = UINT64_MAX};
        char key[32];
        for (int k = 0; k < KEY_COUNT; k++) {
            int len = snprintf(key, sizeof key, k % 3 ? "key-%d" : "{tag-%d}x", k);
            before += cw_hash_tagged(key, (size_t)len) < from;
        }
        fixture->store->ops->walk(fixture->store, 0, see, &all);
        fixture->store->ops->walk(fixture->store, from, see, &rest);
        assert_int_equal(all.count, before + rest.count);
    }
    commit(fixture);
}

static void a_walk_ends_when_the_visitor_has_enough(void **state)
{
    struct fixture *fixture = *state;
    struct seen seen = {.count_max = 5};
    put_many(fixture);
    begin(fixture, STORE_READ);
    assert_int_equal(fixture->store->ops->walk(fixture->store, 0, see, &seen), STORE_OK);
    assert_int_equal(seen.count, 5);
    commit(fixture);
}

/* ---- long keys ------------------------------------------------------------------------------- */

static bool see_whole_key(void *context, uint64_t hash, struct slice key,
                          const struct record *record)
{
    struct slice *want = context;
    assert_int_equal(key.len, want->len);
    assert_memory_equal(key.ptr, want->ptr, key.len);
    return true;
}

static void keys_of_every_length_are_kept_apart(void **state)
{
    struct fixture *fixture = *state;
    static const size_t lens[] = {478, 479, 480, 481, 488, 496, 503, 504, 511, 512, 513, 65536};
    char *key = malloc(65536), value[16];
    assert_non_null(key);
    memset(key, 'k', 65536);
    begin(fixture, STORE_WRITE);
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        snprintf(value, sizeof value, "%zu", lens[i]);
        put_at(fixture, (struct slice){key, lens[i]}, value, 5000);
    }
    for (size_t i = 0; i < sizeof lens / sizeof lens[0]; i++) {
        snprintf(value, sizeof value, "%zu", lens[i]);
        assert_string_equal(get(fixture, (struct slice){key, lens[i]}), value);
    }
    key[65535] = 'x'; /* differs only at its end */
    assert_string_equal(get(fixture, (struct slice){key, 65536}), "(none)");
    for (size_t i = 0; i + 1 < sizeof lens / sizeof lens[0]; i++)
        assert_int_equal(fixture->store->ops->remove(fixture->store, (struct slice){key, lens[i]}),
                         STORE_OK);
    key[65535] = 'k';
    struct slice rest = {key, 65536};
    assert_int_equal(fixture->store->ops->walk(fixture->store, 0, see_whole_key, &rest), STORE_OK);
    commit(fixture);
    free(key);
}

static void the_two_forms_of_a_store_key_never_meet(void **state)
{
    struct store_key key;
    char text[600];
    memset(text, 'a', sizeof text);
    for (size_t len = 0; len <= sizeof text; len++) {
        store_key_make(&key, (struct slice){text, len});
        assert_int_equal(store_key_is_long(key.len), len > STORE_KEY_SHORT_MAX);
        assert_true(key.len <= STORE_KEY_LEN_MAX);
    }
}

/* ---- expiry ---------------------------------------------------------------------------------- */

static uint32_t sweep(struct fixture *fixture, uint64_t now_ms, uint32_t count_max)
{
    uint32_t count = 0;
    begin(fixture, STORE_FREE);
    assert_int_equal(fixture->store->ops->sweep(fixture->store, now_ms, count_max, &count),
                     STORE_OK);
    commit(fixture);
    return count;
}

static struct store_usage measure(struct fixture *fixture)
{
    struct store_usage usage;
    begin(fixture, STORE_READ);
    assert_int_equal(fixture->store->ops->measure(fixture->store, &usage), STORE_OK);
    commit(fixture);
    return usage;
}

static void a_sweep_removes_what_is_over_and_nothing_else(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, STORE_WRITE);
    put_at(fixture, text_slice("a"), "1", 1000);
    put_at(fixture, text_slice("b"), "1", 2000);
    put_at(fixture, text_slice("c"), "1", 3000);
    put(fixture, "d", "1");
    commit(fixture);
    assert_int_equal(sweep(fixture, 1000, 100), 0);
    assert_int_equal(sweep(fixture, 2001, 1), 1);
    assert_int_equal(sweep(fixture, 2001, 100), 1);
    assert_int_equal(sweep(fixture, 2001, 100), 0);
    assert_int_equal(measure(fixture).key_count, 2);
    assert_int_equal(measure(fixture).next_expiry_ms, 3000);
    assert_int_equal(sweep(fixture, 9000, 100), 1);
    assert_int_equal(measure(fixture).next_expiry_ms, UINT64_MAX);
    begin(fixture, STORE_READ);
    assert_string_equal(get(fixture, text_slice("d")), "1");
    commit(fixture);
}

/* The index follows the record: what got another time, or none, is not swept at the old one. */
static void a_changed_expiry_leaves_no_trace_in_the_index(void **state)
{
    struct fixture *fixture = *state;
    begin(fixture, STORE_WRITE);
    put_at(fixture, text_slice("a"), "1", 1000);
    put_at(fixture, text_slice("a"), "2", 5000);
    put_at(fixture, text_slice("b"), "1", 1000);
    put(fixture, "b", "2");
    put_at(fixture, text_slice("c"), "1", 1000);
    assert_int_equal(fixture->store->ops->remove(fixture->store, text_slice("c")), STORE_OK);
    commit(fixture);
    assert_int_equal(sweep(fixture, 1001, 100), 0);
    assert_int_equal(measure(fixture).key_count, 2);
    assert_int_equal(measure(fixture).next_expiry_ms, 5000);
}

static void the_next_expiry_is_known_after_reopening_and_after_an_abort(void **state)
{
    struct fixture *fixture = *state;
    uint32_t count;
    begin(fixture, STORE_WRITE);
    put_at(fixture, text_slice("a"), "1", 1000);
    commit(fixture);
    begin(fixture, STORE_FREE);
    assert_int_equal(fixture->store->ops->sweep(fixture->store, 9000, 100, &count), STORE_OK);
    fixture->store->ops->abort(fixture->store);
    assert_int_equal(measure(fixture).next_expiry_ms, 1000);
    store_close(&fixture->store);
    fixture->store = dir_rig_open(&fixture->dir);
    assert_int_equal(measure(fixture).next_expiry_ms, 1000);
}

static void clearing_leaves_nothing_and_gives_the_room_back(void **state)
{
    struct fixture *fixture = *state;
    put_many(fixture);
    uint64_t used = measure(fixture).used_bytes;
    begin(fixture, STORE_FREE);
    assert_int_equal(fixture->store->ops->clear(fixture->store), STORE_OK);
    commit(fixture);
    assert_int_equal(measure(fixture).key_count, 0);
    assert_true(measure(fixture).used_bytes < used / 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_put_is_there_until_it_is_removed, setup, teardown),
        cmocka_unit_test_setup_teardown(an_aborted_transaction_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_committed_is_there_after_reopening, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_environment_that_was_given_up_is_opened_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_walk_goes_by_the_hash_that_places_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(ranges_are_contiguous, setup, teardown),
        cmocka_unit_test_setup_teardown(a_walk_ends_when_the_visitor_has_enough, setup, teardown),
        cmocka_unit_test_setup_teardown(keys_of_every_length_are_kept_apart, setup, teardown),
        cmocka_unit_test(the_two_forms_of_a_store_key_never_meet),
        cmocka_unit_test_setup_teardown(a_sweep_removes_what_is_over_and_nothing_else, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_changed_expiry_leaves_no_trace_in_the_index, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_next_expiry_is_known_after_reopening_and_after_an_abort,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(clearing_leaves_nothing_and_gives_the_room_back, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
