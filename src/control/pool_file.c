#include "control/pool_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "control/journal.h"
#include "control/json_text.h"
#include "control/map_document.h"

enum { HIGHEST_LEN_MAX = 4096 };

struct names {
    char document[MAP_FILE_NAME_SIZE], highest[MAP_FILE_NAME_SIZE];
};

static struct names names_of(const char *pool)
{
    struct names names;
    snprintf(names.document, sizeof names.document, "%.64s.json", pool);
    snprintf(names.highest, sizeof names.highest, "%.64s.highest", pool);
    return names;
}

/* ---- the highest that was stored --------------------------------------------------------------
 */

struct highest {
    uint64_t revision, generation; /* 0: nothing is remembered */
};

/* What cannot be read is as if it were not there: it only guards against old copies, and is written
 * anew with the next record. */
static struct highest read_highest(const struct map_folder *folder, const struct names *names)
{
    char ignored[MAP_PROBLEM_SIZE];
    struct json_reader reader = {0};
    struct buffer text = BUFFER_INIT;
    struct highest highest = {0, 0};
    if (map_folder_read(folder, names->highest, HIGHEST_LEN_MAX, &text, ignored) == 0) {
        json_t *root = json_loadb(buffer_bytes(&text), text.len, 0, NULL);
        highest.revision = json_get_number(&reader, root, "", "revision", 0, INT64_MAX);
        highest.generation = json_get_number(&reader, root, "", "generation", 0, INT64_MAX);
        json_decref(root);
    }
    buffer_release(&text);
    return reader.has_failed ? (struct highest){0, 0} : highest;
}

static int write_highest(const struct map_folder *folder, const struct names *names,
                         uint64_t revision, uint64_t generation, char *ret_problem)
{
    char text[128];
    int len = snprintf(text, sizeof text,
                       "{\"revision\": %" PRIu64 ", \"generation\": %" PRIu64 "}\n", revision,
                       generation);
    return map_folder_replace(folder, names->highest, text, (size_t)len, false, ret_problem);
}

static int complain_of_missing(const struct map_folder *folder, const struct names *names,
                               const struct highest *highest, char *ret_problem)
{
    snprintf(ret_problem, MAP_PROBLEM_SIZE,
             "map store %.400s: %s is gone, but revision %" PRIu64 " (generation %" PRIu64
             ") was stored there; put the newest copy back, or remove %s to begin anew from the "
             "configuration: then keys may be looked for on other nodes than they are on",
             folder->path, names->document, highest->revision, highest->generation, names->highest);
    return -ESTALE;
}

static int complain_of_older(const struct map_folder *folder, const struct names *names,
                             const struct highest *highest, const struct map_record *record,
                             char *ret_problem)
{
    snprintf(ret_problem, MAP_PROBLEM_SIZE,
             "map store %.400s: %s has revision %" PRIu64 " (generation %" PRIu64
             "), but revision %" PRIu64 " (generation %" PRIu64
             ") was stored there before: an older copy was put back, and keys may have moved since;"
             " put the newest copy back, or remove %s to go on from this one",
             folder->path, names->document, record->revision, cw_map_generation(record->map),
             highest->revision, highest->generation, names->highest);
    return -ESTALE;
}

/* ---- the document -----------------------------------------------------------------------------
 */

static int read_document(const struct map_folder *folder, const char *pool,
                         const struct names *names, bool with_maps, struct map_record **ret_record,
                         char *ret_problem)
{
    char problem[MAP_DOCUMENT_PROBLEM_SIZE];
    struct buffer text = BUFFER_INIT;
    int status = map_folder_read(folder, names->document, MAP_DOCUMENT_LEN_MAX, &text, ret_problem);
    if (status == 0) {
        status = map_document_read(buffer_bytes(&text), text.len, pool, with_maps, ret_record,
                                   problem);
        if (status < 0)
            snprintf(ret_problem, MAP_PROBLEM_SIZE,
                     "map store %.400s: %s cannot be used: %s; put the newest good copy back",
                     folder->path, names->document, problem);
    }
    buffer_release(&text);
    return status;
}

int pool_file_peek(const struct map_folder *folder, const char *pool,
                   struct map_record **ret_record, char ret_problem[static MAP_PROBLEM_SIZE])
{
    struct names names = names_of(pool);
    return read_document(folder, pool, &names, true, ret_record, ret_problem);
}

uint64_t pool_file_revision(const struct map_folder *folder, const char *pool)
{
    char ignored[MAP_PROBLEM_SIZE];
    struct names names = names_of(pool);
    struct map_record *record = NULL;
    if (read_document(folder, pool, &names, false, &record, ignored) < 0)
        return 0;
    uint64_t revision = record->revision;
    map_record_destroy(&record);
    return revision;
}

/* ---- the journal ------------------------------------------------------------------------------
 */

static uint64_t wall_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void copy_word(char *to, const char *word)
{
    snprintf(to, JOURNAL_WORD_SIZE, "%s", word);
}

/* What the journal says of a record; `ended` is the transition that it no longer has, or NULL. */
/* A person who pauses gives no reason, but the line should say why it is there. */
static const char *note_of(const struct transition_info *info)
{
    return info->is_paused && !*info->note ? "paused" : info->note;
}

static struct journal_entry entry_of(const struct map_record *record, uint64_t revision,
                                     uint64_t generation, const struct transition_info *ended)
{
    const struct transition_info *info = record->transition ? record->transition : ended;
    struct journal_entry entry = {
        .time_ms = wall_ms(), .generation = generation, .revision = revision};
    copy_word(entry.state, transition_state_name(record->transition ? record->transition->state
                                                                    : TRANSITION_STABLE));
    if (!info) {
        snprintf(entry.what, sizeof entry.what, "made from the configuration");
        return entry;
    }
    entry.transition = info->id;
    entry.attempt = info->attempt;
    entry.keys = info->keys_moved;
    entry.bytes = info->bytes_moved;
    entry.held_us = info->held_us;
    copy_word(entry.kind, transition_kind_name(info->kind));
    snprintf(entry.who, sizeof entry.who, "%s", info->who);
    snprintf(entry.what, sizeof entry.what, "%s", info->what);
    snprintf(entry.note, sizeof entry.note, "%s", note_of(info));
    return entry;
}

static bool is_news(const struct transition_info *before, const struct transition_info *after)
{
    if (!before || !after)
        return before || after;
    return before->id != after->id || before->attempt != after->attempt ||
           before->state != after->state || before->is_paused != after->is_paused ||
           strcmp(before->note, after->note) != 0;
}

/* Whether the last line of the journal tells of the record as it is. */
static bool is_told(const struct journal_entry *last, const struct map_record *record)
{
    const struct transition_info *info = record->transition;
    if (!info)
        return strcmp(last->state, transition_state_name(TRANSITION_STABLE)) == 0;
    return last->transition == info->id && last->attempt == info->attempt &&
           strcmp(last->state, transition_state_name(info->state)) == 0 &&
           strcmp(last->note, note_of(info)) == 0;
}

/* The line that was not written when the process died between the document and the journal. A
 * transition that is over is known from the line before it only. */
static int add_missing_line(const struct map_folder *folder, const char *pool,
                            const struct map_record *record, char *ret_problem)
{
    struct journal_entry *last = NULL;
    size_t count = 0;
    int status = journal_read(folder, pool, 1, &last, &count, ret_problem);
    if (status < 0 || (count > 0 && is_told(last, record))) {
        free(last);
        return status;
    }
    uint64_t generation = cw_map_generation(record->map);
    struct journal_entry entry = entry_of(record, record->revision, generation, NULL);
    if (!record->transition && count > 0) {
        entry = *last;
        entry.time_ms = wall_ms();
        entry.generation = generation;
        entry.revision = record->revision;
        copy_word(entry.state, transition_state_name(TRANSITION_STABLE));
    }
    free(last);
    status = journal_append(folder, pool, &entry, ret_problem);
    return status < 0 ? status : journal_sync(folder, pool, ret_problem);
}

/* ---- loading ----------------------------------------------------------------------------------
 */

static int check_and_mend(const struct map_folder *folder, const char *pool,
                          const struct names *names, const struct highest *highest,
                          const struct map_record *record, char *ret_problem)
{
    uint64_t generation = cw_map_generation(record->map);
    if (record->revision < highest->revision || generation < highest->generation)
        return complain_of_older(folder, names, highest, record, ret_problem);
    /* What cannot be written now is told, but is no reason not to serve. */
    if (record->revision > highest->revision || generation > highest->generation)
        write_highest(folder, names, record->revision, generation, ret_problem);
    add_missing_line(folder, pool, record, ret_problem);
    return 0;
}

static int load_locked(const struct map_folder *folder, const char *pool,
                       struct map_record **ret_record, char *ret_problem)
{
    struct names names = names_of(pool);
    struct map_record *record = NULL;
    map_folder_tidy(folder, names.document);
    map_folder_tidy(folder, names.highest);
    struct highest highest = read_highest(folder, &names);
    int status = read_document(folder, pool, &names, true, &record, ret_problem);
    if (status == -ENOENT && highest.revision > 0)
        return complain_of_missing(folder, &names, &highest, ret_problem);
    if (status == 0)
        status = check_and_mend(folder, pool, &names, &highest, record, ret_problem);
    if (status < 0)
        map_record_destroy(&record);
    else
        *ret_record = record;
    return status;
}

int pool_file_load(struct map_folder *folder, const char *pool, struct map_record **ret_record,
                   char ret_problem[static MAP_PROBLEM_SIZE])
{
    ret_problem[0] = 0;
    int status = map_folder_lock(folder, ret_problem);
    if (status < 0)
        return status;
    status = load_locked(folder, pool, ret_record, ret_problem);
    map_folder_unlock(folder);
    return status;
}

/* ---- storing ----------------------------------------------------------------------------------
 */

/* Whether the stored document is the one that the record follows. */
static int compare(const struct map_folder *folder, const struct names *names,
                   const struct map_record *record, uint64_t stored, char *ret_problem)
{
    struct highest highest = read_highest(folder, names);
    if (stored == 0 && highest.revision > 0)
        return complain_of_missing(folder, names, &highest, ret_problem);
    if (record->revision == stored)
        return 0;
    snprintf(ret_problem, MAP_PROBLEM_SIZE,
             "map store %.400s: %s has revision %" PRIu64 " and not %" PRIu64
             ": somebody else changed it; start the router again to go on from there",
             folder->path, names->document, stored, record->revision);
    return -ESTALE;
}

static int write_document(const struct map_folder *folder, const char *pool,
                          const struct names *names, const struct map_record *record,
                          char *ret_problem)
{
    struct buffer text = BUFFER_INIT;
    struct map_record next = *record;
    next.revision++;
    int status = map_document_write(pool, &next, &text);
    if (status < 0)
        map_folder_fail(folder, names->document, "cannot be made", -status, ret_problem);
    else
        status = map_folder_replace(folder, names->document, buffer_bytes(&text), text.len, true,
                                    ret_problem);
    buffer_release(&text);
    return status;
}

/* What comes behind the document; the first sentence of what fails stays. */
static void write_rest(const struct map_folder *folder, const char *pool, const struct names *names,
                       const struct map_record *record, const struct transition_info *before,
                       char *ret_problem)
{
    uint64_t revision = record->revision + 1, generation = cw_map_generation(record->map);
    char *problem = ret_problem, ignored[MAP_PROBLEM_SIZE];
    if (write_highest(folder, names, revision, generation, problem) < 0)
        problem = ignored;
    if (revision > 1 && !is_news(before, record->transition))
        return;
    struct journal_entry entry = entry_of(record, revision, generation, before);
    journal_append(folder, pool, &entry, problem);
}

void pool_file_forget(struct pool_file_left *left)
{
    map_record_destroy(&left->record);
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool pool_file_is_as_left(const struct map_folder *folder, const char *pool,
                          const struct pool_file_left *left)
{
    struct names names = names_of(pool);
    struct stat status;
    return left->record && fstatat(folder->folder, names.document, &status, 0) == 0 &&
           is_same_file(&status, &left->status);
}

/* The stored record, from memory if the file is as we left it. */
static int find_stored(const struct map_folder *folder, const char *pool, const struct names *names,
                       const struct pool_file_left *left, struct map_record **ret_stored,
                       char *ret_problem)
{
    if (left && pool_file_is_as_left(folder, pool, left)) {
        *ret_stored = map_record_copy(left->record);
        return *ret_stored ? 0
                           : map_folder_fail(folder, names->document, "cannot be read", ENOMEM,
                                             ret_problem);
    }
    return read_document(folder, pool, names, false, ret_stored, ret_problem);
}

static void keep_left(const struct map_folder *folder, const struct names *names,
                      const struct map_record *record, struct pool_file_left *left)
{
    pool_file_forget(left);
    if (fstatat(folder->folder, names->document, &left->status, 0) < 0)
        return;
    left->record = map_record_copy(record);
    if (left->record)
        left->record->revision++;
}

static int put_locked(const struct map_folder *folder, const char *pool,
                      const struct map_record *record, struct pool_file_left *left,
                      char *ret_problem)
{
    struct names names = names_of(pool);
    struct map_record *stored = NULL;
    int status = find_stored(folder, pool, &names, left, &stored, ret_problem);
    if (status == 0 || status == -ENOENT)
        status = compare(folder, &names, record, stored ? stored->revision : 0, ret_problem);
    if (status == 0)
        status = write_document(folder, pool, &names, record, ret_problem);
    if (status == 0 && left)
        keep_left(folder, &names, record, left);
    if (status == 0)
        write_rest(folder, pool, &names, record, stored ? stored->transition : NULL, ret_problem);
    map_record_destroy(&stored);
    return status;
}

int pool_file_put(struct map_folder *folder, const char *pool, const struct map_record *record,
                  struct pool_file_left *left, char ret_problem[static MAP_PROBLEM_SIZE])
{
    ret_problem[0] = 0;
    int status = map_folder_lock(folder, ret_problem);
    if (status < 0)
        return status;
    status = put_locked(folder, pool, record, left, ret_problem);
    map_folder_unlock(folder);
    return status;
}
