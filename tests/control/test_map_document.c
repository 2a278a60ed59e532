/*
 * A pool's document: back as it was written, and whatever else it holds is refused with the reason.
 * covers: control/map_document, control/json_text, move/map_record
 */
#include <errno.h>

#include "control/map_document.h"
#include "control/map_rig.h"

static struct buffer written(const struct map_record *record)
{
    struct buffer text = BUFFER_INIT;
    assert_int_equal(map_document_write("main", record, &text), 0);
    assert_true(buffer_append(&text, "", 1));
    text.len--;
    return text;
}

static void check_transition(const struct transition_info *got, const struct transition_info *want)
{
    assert_int_equal(got->id, want->id);
    assert_int_equal(got->attempt, want->attempt);
    assert_int_equal(got->kind, want->kind);
    assert_int_equal(got->state, want->state);
    assert_int_equal(got->is_paused, want->is_paused);
    assert_int_equal(got->is_deep, want->is_deep);
    assert_int_equal(got->may_purge, want->may_purge);
    assert_int_equal(got->no_copy, want->no_copy);
    assert_string_equal(got->dead_id, want->dead_id);
    assert_int_equal(got->throttle.keys_per_second, want->throttle.keys_per_second);
    assert_int_equal(got->throttle.bytes_per_second, want->throttle.bytes_per_second);
    assert_int_equal(got->throttle.is_automatic, want->throttle.is_automatic);
    assert_memory_equal(got->reached_ms, want->reached_ms, sizeof got->reached_ms);
    assert_int_equal(got->keys_moved, want->keys_moved);
    assert_int_equal(got->bytes_moved, want->bytes_moved);
    assert_int_equal(got->held_us, want->held_us);
    assert_string_equal(got->who, want->who);
    assert_string_equal(got->what, want->what);
    assert_string_equal(got->note, want->note);
    rig_assert_equal_maps(got->from, want->from);
    rig_assert_equal_maps(got->to, want->to);
}

static void check_round_trip(const struct map_record *record)
{
    char problem[MAP_DOCUMENT_PROBLEM_SIZE];
    struct map_record *got = NULL;
    struct buffer text = written(record);
    int status = map_document_read(buffer_bytes(&text), text.len, "main", true, &got, problem);
    if (status < 0)
        fail_msg("%s\n%s", problem, buffer_bytes(&text));
    assert_int_equal(got->revision, record->revision);
    assert_int_equal(got->next_transition, record->next_transition);
    assert_string_equal(got->engine, record->engine);
    assert_int_equal(got->burnt_count, record->burnt_count);
    for (size_t i = 0; i < record->burnt_count; i++)
        assert_string_equal(got->burnt[i], record->burnt[i]);
    rig_assert_equal_maps(got->map, record->map);
    assert_int_equal(got->transition != NULL, record->transition != NULL);
    if (got->transition)
        check_transition(got->transition, record->transition);
    map_record_destroy(&got);
    buffer_release(&text);
}

static void a_record_comes_back_as_it_was_written(void **state)
{
    static const char *const burnt[] = {"n8", "n9"};
    struct cw_map *from = rig_map(4, 3), *to = rig_map(5, 4);
    struct map_record record = rig_record(from);
    record.revision = 1;
    check_round_trip(&record);
    struct transition_info info = rig_transition(from, to);
    record.revision = 12;
    record.next_transition = 2;
    record.burnt = burnt;
    record.burnt_count = 2;
    record.transition = &info;
    check_round_trip(&record);
    info.kind = TRANSITION_DEAD;
    info.state = TRANSITION_CLEANING;
    snprintf(info.dead_id, sizeof info.dead_id, "n1");
    record.map = to;
    record.engine = "embedded";
    check_round_trip(&record);
    cw_map_unref(&from);
    cw_map_unref(&to);
}

static void texts_that_are_no_utf8_are_written_as_question_marks(void **state)
{
    char problem[MAP_DOCUMENT_PROBLEM_SIZE];
    struct cw_map *from = rig_map(1, 1), *to = rig_map(2, 2);
    struct transition_info info = rig_transition(from, to);
    struct map_record record = rig_record(from), *got = NULL;
    snprintf(info.note, sizeof info.note, "bad \xff byte");
    record.revision = 1;
    record.next_transition = 2;
    record.transition = &info;
    struct buffer text = written(&record);
    assert_int_equal(map_document_read(buffer_bytes(&text), text.len, "main", true, &got, problem),
                     0);
    assert_string_equal(got->transition->note, "bad ? byte");
    map_record_destroy(&got);
    buffer_release(&text);
    cw_map_unref(&from);
    cw_map_unref(&to);
}

/* A good document in which one text is put in another's place. */
static void expect_refused(const char *old, const char *new, const char *wanted)
{
    char problem[MAP_DOCUMENT_PROBLEM_SIZE] = "";
    struct cw_map *from = rig_map(1, 1), *to = rig_map(2, 2);
    struct transition_info info = rig_transition(from, to);
    struct map_record record = rig_record(from), *got = NULL;
    record.revision = 3;
    record.next_transition = 2;
    record.transition = &info;
    struct buffer text = written(&record), changed = BUFFER_INIT;
    const char *at = strstr(buffer_bytes(&text), old);
    if (!at)
        fail_msg("'%s' is not in %s", old, buffer_bytes(&text));
    buffer_append(&changed, buffer_bytes(&text), (size_t)(at - buffer_bytes(&text)));
    buffer_append_text(&changed, new);
    buffer_append_text(&changed, at + strlen(old));
    int status = map_document_read(buffer_bytes(&changed), changed.len, "main", true, &got,
                                   problem);
    assert_int_equal(status, -EINVAL);
    rig_assert_has(problem, wanted);
    buffer_release(&text);
    buffer_release(&changed);
    cw_map_unref(&from);
    cw_map_unref(&to);
}

static void what_is_wrong_is_said(void **state)
{
    static const struct {
        const char *old, *new, *wanted;
    } cases[] = {
        {"{", "", "line "},
        {"{", "[", "line "},
        {"\"clockwise_pool\": 1", "\"clockwise_pool\": 2",
         "clockwise_pool is 2; 1 to 1 is possible"},
        {"\"pool\": \"main\"", "\"pool\": \"other\"", "it is of the pool 'other'"},
        {"\"pool\"", "\"poll\"", "unknown key poll; did you mean pool?"},
        {"\"revision\": 3", "\"revision\": 0", "revision is 0"},
        {"\"revision\": 3", "\"revision\": -3", "revision is -3"},
        {"\"revision\": 3", "\"revision\": 3.5", "revision is not a whole number"},
        {"\"revision\": 3", "\"revision\": \"3\"", "revision is not a whole number"},
        {"\"revision\": 3", "\"revision\": 99999999999999999999", "too big integer"},
        {"\"revision\": 3", "\"revision\": 3, \"revision\": 4", "duplicate object key"},
        {"\"revision\": 3,", "", "revision is missing"},
        {"\"generation\": 1", "\"generation\": 7", "generation is 7, but that of the map is 1"},
        {"\"engine\": \"redis\"", "\"engine\": \"mysql\"", "engine is 'mysql', which is unknown"},
        {"\"engine\": \"redis\"", "\"engine\": \"re\\u0000dis\"", "0000 is not allowed"},
        {"\"burnt\": []", "\"burnt\": {}", "burnt is not an array"},
        {"\"burnt\": []", "\"burnt\": [1]", "burnt[0] is no node id"},
        {"\"map\": {", "\"map\": [{}], \"x\": {", "unknown key x"},
        {"\"weight\": 1", "\"weight\": 0", "map: "},
        {"\"id\": 1", "\"id\": 2", "transition.id is 2, but next_transition is 2"},
        {"\"state\": \"tracking\"", "\"state\": \"asleep\"", "transition.state is 'asleep'"},
        {"\"state\": \"tracking\"", "\"state\": \"stable\"", "there is a transition"},
        {"\"state\": \"tracking\"", "\"state\": \"switched\"", "2 belongs to a transition that is"},
        {"\"kind\": \"change\"", "\"kind\": \"\"", "transition.kind is ''"},
        {"\"paused\": true", "\"paused\": 1", "transition.paused is neither true nor false"},
        {"\"dead\": \"\"", "\"dead\": 5", "transition.dead is not a text"},
        {"\"prepared\"", "\"prepare\"", "unknown key transition.reached_ms.prepare; did you mean"},
        {"\"automatic\"", "\"auto\"", "transition.throttle.automatic is missing"},
        {"\"generation\": 2", "\"generation\": 1", "no later generation"},
        {"\"revision\": 3", "\"revision\": 4", "its check does not fit the rest"},
        {"\"revision\": 3", "\"revision\":  3", "its check does not fit the rest"},
        {"\"check\": \"", "\"check\": \"0", "its check does not fit the rest"},
        {",\n\"check\"", ", \"check\"", "its check does not fit the rest"},
        {"\"check\": \"", "\"check\": 5, \"x\": \"", "unknown key x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refused(cases[i].old, cases[i].new, cases[i].wanted);
}

static void every_cut_of_a_document_is_refused(void **state)
{
    char problem[MAP_DOCUMENT_PROBLEM_SIZE];
    struct cw_map *map = rig_map(1, 2);
    struct map_record record = rig_record(map), *got = NULL;
    record.revision = 1;
    struct buffer text = written(&record);
    for (size_t len = 0; len < text.len - 2; len++) {
        char *copy = malloc(len ? len : 1); /* so that reading behind its end is seen */
        assert_non_null(copy);
        memcpy(copy, buffer_bytes(&text), len);
        assert_int_equal(map_document_read(copy, len, "main", true, &got, problem), -EINVAL);
        assert_true(problem[0] != 0);
        free(copy);
    }
    buffer_release(&text);
    cw_map_unref(&map);
}

/* The bits of a digit are one step from those of other digits: the rest would make sense. */
static void no_changed_bit_is_taken_for_true(void **state)
{
    char problem[MAP_DOCUMENT_PROBLEM_SIZE];
    struct cw_map *map = rig_map(1, 2);
    struct map_record record = rig_record(map), *got = NULL;
    record.revision = 1;
    struct buffer text = written(&record);
    for (size_t bit = 0; bit < (text.len - 3) * 8; bit++) {
        buffer_bytes(&text)[bit / 8] ^= (char)(1 << bit % 8);
        if (map_document_read(buffer_bytes(&text), text.len, "main", true, &got, problem) == 0)
            fail_msg("bit %zu: %s", bit, buffer_bytes(&text));
        buffer_bytes(&text)[bit / 8] ^= (char)(1 << bit % 8);
    }
    buffer_release(&text);
    cw_map_unref(&map);
}

static void without_its_check_line_an_edited_document_is_meant(void **state)
{
    char problem[MAP_DOCUMENT_PROBLEM_SIZE];
    struct cw_map *map = rig_map(1, 2);
    struct map_record record = rig_record(map), *got = NULL;
    record.revision = 1;
    struct buffer text = written(&record), old = BUFFER_INIT;
    char *check = strstr(buffer_bytes(&text), ",\n\"check\"");
    char *revision = strstr(buffer_bytes(&text), "\"revision\": 1");
    assert_true(check && revision);
    revision[strlen("\"revision\": ")] = '7';
    buffer_append(&old, buffer_bytes(&text), (size_t)(check - buffer_bytes(&text)));
    buffer_append_text(&old, "\n}\n");
    assert_int_equal(map_document_read(buffer_bytes(&old), old.len, "main", true, &got, problem),
                     0);
    assert_int_equal(got->revision, 7);
    map_record_destroy(&got);
    buffer_release(&text);
    buffer_release(&old);
    cw_map_unref(&map);
}

static void the_revision_is_had_without_the_maps(void **state)
{
    char problem[MAP_DOCUMENT_PROBLEM_SIZE];
    struct cw_map *map = rig_map(1, 2);
    struct map_record record = rig_record(map), *got = NULL;
    record.revision = 9;
    struct buffer text = written(&record);
    assert_int_equal(map_document_read(buffer_bytes(&text), text.len, NULL, false, &got, problem),
                     0);
    assert_int_equal(got->revision, 9);
    assert_null(got->map);
    map_record_destroy(&got);
    buffer_release(&text);
    cw_map_unref(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_comes_back_as_it_was_written),
        cmocka_unit_test(texts_that_are_no_utf8_are_written_as_question_marks),
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(every_cut_of_a_document_is_refused),
        cmocka_unit_test(no_changed_bit_is_taken_for_true),
        cmocka_unit_test(without_its_check_line_an_edited_document_is_meant),
        cmocka_unit_test(the_revision_is_had_without_the_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
