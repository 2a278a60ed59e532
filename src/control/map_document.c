#include "control/map_document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/json_text.h"

enum { FORMAT = 1 };

/* What JSON's integers hold everywhere, jansson's included. */
static const uint64_t number_max = INT64_MAX;

/* ---- writing --------------------------------------------------------------------------------- */

/* Numbers beyond are only counts and times; they stay at the bound instead of turning negative. */
static uint64_t bounded(uint64_t number)
{
    return number < number_max ? number : number_max;
}

static bool write_map(const char *key, const struct cw_map *map, struct buffer *out)
{
    char *text = NULL;
    size_t len = 0;
    if (cw_map_to_text(map, &text, &len) != CW_OK)
        return false;
    while (len > 0 && text[len - 1] == '\n')
        len--;
    bool ok = buffer_printf(out, ",\n\"%s\": ", key) && buffer_append(out, text, len);
    free(text);
    return ok;
}

static bool write_text(const char *key, const char *text, struct buffer *out)
{
    return buffer_printf(out, ",\n\"%s\": ", key) && json_append_text(out, text);
}

static bool write_reached(const struct transition_info *info, struct buffer *out)
{
    bool ok = buffer_append_text(out, ",\n\"reached_ms\": {");
    for (int i = 0, count = 0; ok && i < TRANSITION_STATE_COUNT; i++)
        if (info->reached_ms[i])
            ok = buffer_printf(out, "%s\"%s\": %" PRIu64, count++ ? ", " : "",
                               transition_state_name((enum transition_state)i),
                               bounded(info->reached_ms[i]));
    return ok && buffer_append_text(out, "}");
}

static const char *word(bool value)
{
    return value ? "true" : "false";
}

static bool write_transition(const struct transition_info *info, struct buffer *out)
{
    return buffer_printf(out,
                         ",\n\"transition\": {\n\"id\": %" PRIu64 ",\n\"attempt\": %" PRIu32
                         ",\n\"kind\": \"%s\",\n\"state\": \"%s\",\n\"paused\": %s,\n\"deep\": %s,"
                         "\n\"may_purge\": %s,\n\"no_copy\": %s",
                         info->id, info->attempt, transition_kind_name(info->kind),
                         transition_state_name(info->state), word(info->is_paused),
                         word(info->is_deep), word(info->may_purge), word(info->no_copy)) &&
           write_text("dead", info->dead_id, out) && write_text("who", info->who, out) &&
           write_text("what", info->what, out) && write_text("note", info->note, out) &&
           write_reached(info, out) &&
           buffer_printf(
               out,
               ",\n\"keys_moved\": %" PRIu64 ",\n\"bytes_moved\": %" PRIu64
               ",\n\"held_us\": %" PRIu64 ",\n\"throttle\": {\"keys_per_second\": %" PRIu64
               ", \"bytes_per_second\": %" PRIu64 ", \"automatic\": %s}",
               bounded(info->keys_moved), bounded(info->bytes_moved), bounded(info->held_us),
               bounded(info->throttle.keys_per_second), bounded(info->throttle.bytes_per_second),
               word(info->throttle.is_automatic)) &&
           write_map("from", info->from, out) && write_map("to", info->to, out) &&
           buffer_append_text(out, "\n}");
}

static bool write_burnt(const struct map_record *record, struct buffer *out)
{
    bool ok = buffer_append_text(out, ",\n\"burnt\": [");
    for (size_t i = 0; ok && i < record->burnt_count; i++)
        ok = buffer_append_text(out, i ? ", " : "") && json_append_text(out, record->burnt[i]);
    return ok && buffer_append_text(out, "]");
}

static const char check_start[] = ",\n\"check\": \"";

/* Of the bytes of `out` from `start` on. */
static bool write_check(size_t start, struct buffer *out)
{
    uint64_t check = cw_hash(buffer_bytes(out) + start, out->len - start);
    return buffer_printf(out, "%s%016" PRIx64 "\"", check_start, check);
}

int map_document_write(const char *pool, const struct map_record *record, struct buffer *out)
{
    size_t before = out->len;
    bool ok = buffer_printf(out, "{\n\"clockwise_pool\": %d", FORMAT) &&
              write_text("pool", pool, out) && write_text("engine", record->engine, out) &&
              buffer_printf(out,
                            ",\n\"revision\": %" PRIu64 ",\n\"generation\": %" PRIu64
                            ",\n\"next_transition\": %" PRIu64,
                            record->revision, cw_map_generation(record->map),
                            record->next_transition) &&
              write_burnt(record, out) && write_map("map", record->map, out) &&
              (!record->transition || write_transition(record->transition, out)) &&
              write_check(before, out) && buffer_append_text(out, "\n}\n");
    if (!ok)
        return -ENOMEM;
    return out->len - before > MAP_DOCUMENT_LEN_MAX ? -EFBIG : 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct document {
    struct json_reader reader;
    bool with_maps, no_memory;
    struct map_record record;
    struct transition_info transition;
    const char **burnt;
};

static struct cw_map *read_map(struct document *document, const json_t *object, const char *path,
                               const char *key)
{
    struct cw_error error = {0};
    struct cw_map *map = NULL;
    json_t *value = json_get_object(&document->reader, object, path, key);
    if (!value || !document->with_maps)
        return NULL;
    char *text = json_dumps(value, JSON_COMPACT);
    int status = text ? cw_map_from_text(text, strlen(text), &map, &error) : CW_ENOMEM;
    free(text);
    document->no_memory |= status == CW_ENOMEM;
    if (status != CW_OK)
        json_problem(&document->reader, "%s%s: %s", path, key,
                     status == CW_ENOMEM ? "out of memory" : error.message);
    return map;
}

static void read_reached(struct document *document, const json_t *object)
{
    static const char path[] = "transition.reached_ms.";
    const char *names[TRANSITION_STATE_COUNT + 1] = {0};
    struct json_reader *reader = &document->reader;
    const json_t *reached = json_get_object(reader, object, "transition.", "reached_ms");
    for (int i = 0; i < TRANSITION_STATE_COUNT; i++) {
        names[i] = transition_state_name((enum transition_state)i);
        if (json_object_get(reached, names[i]))
            document->transition.reached_ms[i] = json_get_number(reader, reached, path, names[i], 0,
                                                                 number_max);
    }
    if (reached)
        json_expect_keys(reader, reached, path, names);
}

static void read_throttle(struct document *document, const json_t *object)
{
    static const char *const keys[] = {"keys_per_second", "bytes_per_second", "automatic", NULL};
    static const char path[] = "transition.throttle.";
    struct json_reader *reader = &document->reader;
    struct throttle_settings *settings = &document->transition.throttle;
    const json_t *throttle = json_get_object(reader, object, "transition.", "throttle");
    settings->keys_per_second = json_get_number(reader, throttle, path, keys[0], 0, number_max);
    settings->bytes_per_second = json_get_number(reader, throttle, path, keys[1], 0, number_max);
    settings->is_automatic = json_get_bool(reader, throttle, path, keys[2]);
    if (throttle)
        json_expect_keys(reader, throttle, path, keys);
}

/* A word of a list; 0 when it is none, after saying so. */
static int read_word(struct document *document, const json_t *object, const char *key,
                     int (*find)(const char *name))
{
    const char *name = json_get_text(&document->reader, object, "transition.", key, 0);
    int found = document->reader.has_failed ? 0 : find(name);
    if (found < 0)
        json_problem(&document->reader, "transition.%s is '%.40s', which is unknown", key, name);
    return found < 0 ? 0 : found;
}

static void read_texts(struct document *document, const json_t *object)
{
    struct transition_info *info = &document->transition;
    const struct {
        const char *key;
        char *text;
        size_t size;
    } texts[] = {
        {"dead", info->dead_id, sizeof info->dead_id},
        {"who", info->who, sizeof info->who},
        {"what", info->what, sizeof info->what},
        {"note", info->note, sizeof info->note},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        snprintf(
            texts[i].text, texts[i].size, "%s",
            json_get_text(&document->reader, object, "transition.", texts[i].key, texts[i].size));
}

static void read_transition(struct document *document, const json_t *object)
{
    static const char *const keys[] = {
        "id",       "attempt",    "kind",       "state",       "paused",  "deep", "may_purge",
        "dead",     "no_copy",    "who",        "what",        "note",    "from", "to",
        "throttle", "reached_ms", "keys_moved", "bytes_moved", "held_us", NULL};
    static const char path[] = "transition.";
    struct json_reader *reader = &document->reader;
    struct transition_info *info = &document->transition;
    json_expect_keys(reader, object, path, keys);
    info->id = json_get_number(reader, object, path, "id", 1, number_max);
    info->attempt = (uint32_t)json_get_number(reader, object, path, "attempt", 0, UINT32_MAX);
    info->kind = (enum transition_kind)read_word(document, object, "kind", transition_kind_find);
    info->state = (enum transition_state)read_word(document, object, "state",
                                                   transition_state_find);
    info->is_paused = json_get_bool(reader, object, path, "paused");
    info->is_deep = json_get_bool(reader, object, path, "deep");
    info->may_purge = json_get_bool(reader, object, path, "may_purge");
    info->no_copy = json_get_bool(reader, object, path, "no_copy");
    read_texts(document, object);
    read_reached(document, object);
    info->keys_moved = json_get_number(reader, object, path, "keys_moved", 0, number_max);
    info->bytes_moved = json_get_number(reader, object, path, "bytes_moved", 0, number_max);
    info->held_us = json_get_number(reader, object, path, "held_us", 0, number_max);
    read_throttle(document, object);
    info->from = read_map(document, object, path, "from");
    info->to = read_map(document, object, path, "to");
    document->record.transition = info;
}

static void read_burnt(struct document *document, const json_t *root)
{
    struct json_reader *reader = &document->reader;
    const json_t *burnt = json_get_array(reader, root, "", "burnt", MAP_DOCUMENT_BURNT_MAX);
    size_t count = json_array_size(burnt);
    document->burnt = calloc(count ? count : 1, sizeof *document->burnt);
    if (!document->burnt) {
        document->no_memory = true;
        json_problem(reader, "out of memory");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *id = json_array_get(burnt, i);
        if (!json_is_string(id) || json_string_length(id) > CW_ID_LEN_MAX)
            json_problem(reader, "burnt[%zu] is no node id", i);
        document->burnt[i] = json_is_string(id) ? json_string_value(id) : "";
    }
    document->record.burnt = document->burnt;
    document->record.burnt_count = count;
}

/* What each part alone cannot show. */
static void check_parts(struct document *document, uint64_t generation)
{
    struct json_reader *reader = &document->reader;
    const struct map_record *record = &document->record;
    const struct transition_info *info = record->transition;
    if (reader->has_failed)
        return;
    if (info && info->state == TRANSITION_STABLE)
        json_problem(reader, "transition.state is 'stable', but there is a transition");
    if (info && info->id >= record->next_transition)
        json_problem(reader, "transition.id is %" PRIu64 ", but next_transition is %" PRIu64,
                     info->id, record->next_transition);
    if (reader->has_failed || !document->with_maps)
        return;
    if (cw_map_generation(record->map) != generation)
        json_problem(reader, "generation is %" PRIu64 ", but that of the map is %" PRIu64,
                     generation, cw_map_generation(record->map));
    if (!info)
        return;
    bool is_new = info->state == TRANSITION_SWITCHED || info->state == TRANSITION_CLEANING;
    uint64_t expected = cw_map_generation(is_new ? info->to : info->from);
    if (cw_map_generation(info->from) >= cw_map_generation(info->to))
        json_problem(reader, "transition.to has no later generation than transition.from");
    if (expected != generation)
        json_problem(reader,
                     "the map has generation %" PRIu64 ", but %" PRIu64
                     " belongs to a transition that is %s",
                     generation, expected, transition_state_name(info->state));
}

static void read_root(struct document *document, const json_t *root, const char *pool)
{
    static const char *const keys[] = {
        "clockwise_pool", "pool", "engine",     "revision", "generation", "next_transition",
        "burnt",          "map",  "transition", "check",    NULL};
    struct json_reader *reader = &document->reader;
    struct map_record *record = &document->record;
    if (!json_is_object(root))
        json_problem(reader, "it is not an object");
    json_get_number(reader, root, "", "clockwise_pool", FORMAT, FORMAT);
    if (!reader->has_failed)
        json_expect_keys(reader, root, "", keys);
    const char *name = json_get_text(reader, root, "", "pool", 0);
    if (!reader->has_failed && pool && strcmp(name, pool) != 0)
        json_problem(reader, "it is of the pool '%.63s'", name);
    record->engine = json_get_text(reader, root, "", "engine", 0);
    if (!reader->has_failed && strcmp(record->engine, "redis") != 0 &&
        strcmp(record->engine, "embedded") != 0)
        json_problem(reader, "engine is '%.40s', which is unknown", record->engine);
    record->revision = json_get_number(reader, root, "", "revision", 1, number_max - 1);
    uint64_t generation = json_get_number(reader, root, "", "generation", 1, number_max);
    record->next_transition = json_get_number(reader, root, "", "next_transition", 1, number_max);
    read_burnt(document, root);
    record->map = read_map(document, root, "", "map");
    if (!reader->has_failed && json_object_get(root, "transition"))
        read_transition(document, json_get_object(reader, root, "", "transition"));
    check_parts(document, generation);
}

/* The last line of this kind: none stands in a text, where a newline is written as \n. */
static const char *find_check(const char *text, size_t len)
{
    const char *found = NULL, *end = text + len;
    for (const char *at = text; at;) {
        at = memmem(at, (size_t)(end - at), check_start, sizeof check_start - 1);
        if (at)
            found = at++;
    }
    return found;
}

/* After all else, whose errors say more. */
static void verify_check(struct document *document, const json_t *root, const char *text,
                         size_t len)
{
    struct json_reader *reader = &document->reader;
    char expected[20] = "";
    if (reader->has_failed || !json_object_get(root, "check"))
        return;
    const char *written = json_get_text(reader, root, "", "check", 0);
    const char *at = find_check(text, len);
    if (at)
        snprintf(expected, sizeof expected, "%016" PRIx64, cw_hash(text, (size_t)(at - text)));
    if (!reader->has_failed && strcmp(written, expected) != 0)
        json_problem(reader, "its check does not fit the rest, so the disk or somebody changed it; "
                             "if you did and mean it, remove the line \"check\" and the comma "
                             "before it, else");
}

static void release(struct document *document)
{
    cw_map_unref(&document->record.map);
    cw_map_unref(&document->transition.from);
    cw_map_unref(&document->transition.to);
    free(document->burnt);
}

static int finish(struct document *document, struct map_record **ret_record, char *ret_problem)
{
    struct map_record *record = NULL;
    if (!document->reader.has_failed && !(record = map_record_copy(&document->record))) {
        document->no_memory = true;
        json_problem(&document->reader, "out of memory");
    }
    snprintf(ret_problem, MAP_DOCUMENT_PROBLEM_SIZE, "%s", document->reader.problem);
    if (record)
        *ret_record = record;
    return record ? 0 : document->no_memory ? -ENOMEM : -EINVAL;
}

int map_document_read(const char *text, size_t len, const char *pool, bool with_maps,
                      struct map_record **ret_record,
                      char ret_problem[static MAP_DOCUMENT_PROBLEM_SIZE])
{
    struct document document = {.with_maps = with_maps};
    json_error_t error;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    if (!root) {
        bool no_memory = json_error_code(&error) == json_error_out_of_memory;
        snprintf(ret_problem, MAP_DOCUMENT_PROBLEM_SIZE, "line %d, column %d: %s", error.line,
                 error.column, error.text);
        return no_memory ? -ENOMEM : -EINVAL;
    }
    read_root(&document, root, pool);
    verify_check(&document, root, text, len);
    int status = finish(&document, ret_record, ret_problem);
    release(&document);
    json_decref(root);
    return status;
}
