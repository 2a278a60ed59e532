#include "control/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "control/json_text.h"

void journal_name(const char *pool, char ret_name[static MAP_FILE_NAME_SIZE])
{
    snprintf(ret_name, MAP_FILE_NAME_SIZE, "%.64s.journal", pool);
}

/* ---- one entry ------------------------------------------------------------------------------- */

static bool write_text(const char *key, const char *text, struct buffer *out)
{
    return buffer_printf(out, ",\"%s\":", key) && json_append_text(out, text);
}

bool journal_write_entry(const struct journal_entry *entry, struct buffer *out)
{
    return buffer_printf(
               out,
               "{\"time_ms\":%" PRIu64 ",\"transition\":%" PRIu64 ",\"attempt\":%" PRIu32
               ",\"kind\":\"%s\",\"state\":\"%s\",\"generation\":%" PRIu64 ",\"revision\":%" PRIu64
               ",\"keys\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"held_us\":%" PRIu64,
               entry->time_ms, entry->transition, entry->attempt, entry->kind, entry->state,
               entry->generation, entry->revision, entry->keys, entry->bytes, entry->held_us) &&
           write_text("who", entry->who, out) && write_text("what", entry->what, out) &&
           write_text("note", entry->note, out) && buffer_append_text(out, "}\n");
}

static void read_text(struct json_reader *reader, const json_t *root, const char *key,
                      char *ret_text, size_t size)
{
    snprintf(ret_text, size, "%s", json_get_text(reader, root, "", key, size));
}

static uint64_t read_number(struct json_reader *reader, const json_t *root, const char *key)
{
    return json_get_number(reader, root, "", key, 0, INT64_MAX);
}

/* Unknown keys are left alone: a later version may write more. */
bool journal_read_entry(const char *line, size_t len, struct journal_entry *ret_entry)
{
    struct json_reader reader = {0};
    struct journal_entry entry;
    json_t *root = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
    entry.time_ms = read_number(&reader, root, "time_ms");
    entry.transition = read_number(&reader, root, "transition");
    entry.attempt = (uint32_t)json_get_number(&reader, root, "", "attempt", 0, UINT32_MAX);
    entry.generation = read_number(&reader, root, "generation");
    entry.revision = read_number(&reader, root, "revision");
    entry.keys = read_number(&reader, root, "keys");
    entry.bytes = read_number(&reader, root, "bytes");
    entry.held_us = read_number(&reader, root, "held_us");
    read_text(&reader, root, "kind", entry.kind, sizeof entry.kind);
    read_text(&reader, root, "state", entry.state, sizeof entry.state);
    read_text(&reader, root, "who", entry.who, sizeof entry.who);
    read_text(&reader, root, "what", entry.what, sizeof entry.what);
    read_text(&reader, root, "note", entry.note, sizeof entry.note);
    json_decref(root);
    if (!reader.has_failed)
        *ret_entry = entry;
    return !reader.has_failed;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int open_journal(const struct map_folder *folder, const char *name, int flags)
{
    int file = openat(folder->folder, name, flags | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
    return file < 0 ? -errno : file;
}

/* The journal with room for a line more; a full one becomes the old one. */
static int open_with_room(const struct map_folder *folder, const char *name, size_t more)
{
    struct stat status;
    char old[MAP_FILE_NAME_SIZE];
    int file = open_journal(folder, name, O_CREAT);
    if (file < 0 || fstat(file, &status) < 0 || status.st_size + (off_t)more <= JOURNAL_LEN_MAX)
        return file;
    close(file);
    snprintf(old, sizeof old, "%.100s.1", name);
    if (renameat(folder->folder, name, folder->folder, old) < 0)
        return -errno;
    return open_journal(folder, name, O_CREAT);
}

/* Ends a line that a crash cut short, so that the next one begins a line. */
static bool is_cut_short(int file)
{
    char last;
    struct stat status;
    return fstat(file, &status) == 0 && status.st_size > 0 &&
           pread(file, &last, 1, status.st_size - 1) == 1 && last != '\n';
}

/* All or nothing: what a full disk cut short is taken back. */
static int write_line(int file, const struct buffer *line)
{
    struct stat before;
    size_t skip = is_cut_short(file) ? 0 : 1; /* the line begins with a newline for that case */
    size_t len = line->len - skip;
    if (fstat(file, &before) < 0)
        return -errno;
    ssize_t done = write(file, buffer_bytes(line) + skip, len);
    if (done == (ssize_t)len)
        return 0;
    int error = done < 0 ? errno : ENOSPC;
    if (done > 0 && ftruncate(file, before.st_size) < 0)
        return -error; /* then it is skipped at reading */
    return -error;
}

int journal_append(const struct map_folder *folder, const char *pool,
                   const struct journal_entry *entry, char ret_problem[static MAP_PROBLEM_SIZE])
{
    char name[MAP_FILE_NAME_SIZE];
    struct buffer line = BUFFER_INIT;
    journal_name(pool, name);
    int status = buffer_append_text(&line, "\n") && journal_write_entry(entry, &line) ? 0 : -ENOMEM;
    int file = status == 0 ? open_with_room(folder, name, line.len) : status;
    status = file < 0 ? file : write_line(file, &line);
    if (file >= 0)
        close(file);
    buffer_release(&line);
    return status < 0 ? map_folder_fail(folder, name, "cannot be written", -status, ret_problem)
                      : 0;
}

int journal_sync(const struct map_folder *folder, const char *pool,
                 char ret_problem[static MAP_PROBLEM_SIZE])
{
    char name[MAP_FILE_NAME_SIZE];
    journal_name(pool, name);
    int file = open_journal(folder, name, 0);
    if (file == -ENOENT)
        return 0;
    int status = file < 0 ? file : fsync(file) < 0 ? -errno : 0;
    if (file >= 0)
        close(file);
    return status < 0 ? map_folder_fail(folder, name, "cannot be brought to the disk", -status,
                                        ret_problem)
                      : 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reading {
    struct journal_entry *entries; /* filled from the end */
    size_t wanted, first;          /* entries[first .. wanted) are there */
};

/* Takes lines from the end of a text until there are enough. */
static void take_lines(struct reading *reading, const char *text, size_t len)
{
    while (len > 0 && reading->first > 0) {
        const char *newline = memrchr(text, '\n', len);
        size_t begin = newline ? (size_t)(newline - text) + 1 : 0;
        if (journal_read_entry(text + begin, len - begin, &reading->entries[reading->first - 1]))
            reading->first--;
        len = newline ? begin - 1 : 0;
    }
}

static int read_file(const struct map_folder *folder, const char *name, struct reading *reading,
                     char *ret_problem)
{
    struct buffer text = BUFFER_INIT;
    int status = map_folder_read(folder, name, JOURNAL_LEN_MAX + (1 << 20), &text, ret_problem);
    if (status == 0)
        take_lines(reading, buffer_bytes(&text), text.len);
    buffer_release(&text);
    return status == -ENOENT ? 0 : status;
}

int journal_read(const struct map_folder *folder, const char *pool, size_t count,
                 struct journal_entry **ret_entries, size_t *ret_count,
                 char ret_problem[static MAP_PROBLEM_SIZE])
{
    char name[MAP_FILE_NAME_SIZE], old[MAP_FILE_NAME_SIZE];
    struct reading reading = {.wanted = count < JOURNAL_READ_MAX ? count : JOURNAL_READ_MAX};
    reading.first = reading.wanted;
    reading.entries = calloc(reading.wanted ? reading.wanted : 1, sizeof *reading.entries);
    if (!reading.entries) {
        snprintf(ret_problem, MAP_PROBLEM_SIZE, "out of memory");
        return -ENOMEM;
    }
    journal_name(pool, name);
    snprintf(old, sizeof old, "%.100s.1", name);
    int status = read_file(folder, name, &reading, ret_problem);
    if (status == 0 && reading.first > 0)
        status = read_file(folder, old, &reading, ret_problem);
    if (status < 0) {
        free(reading.entries);
        return status;
    }
    *ret_count = reading.wanted - reading.first;
    memmove(reading.entries, reading.entries + reading.first, *ret_count * sizeof *reading.entries);
    *ret_entries = reading.entries;
    return 0;
}
