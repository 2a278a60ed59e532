/*
 * Reading the golden files of profiles and the list that says what belongs to them (cases.txt).
 * For tests only: whatever is wrong with a file fails the test at once.
 */
#ifndef TESTS_PROFILES_PROFILE_GOLDEN_H
#define TESTS_PROFILES_PROFILE_GOLDEN_H

#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <clockwise/profile.h>

#define GOLDEN_FOLDER CW_SOURCE_DIR "/tests/profiles/golden/"
enum { GOLDEN_KEY_COUNT = 2000, FLEET_NODES_MAX = 1024, FLEET_COUNT_MAX = 64 };

/* The lines of a file; `text` holds them, headers ("#!") are left out. */
struct lines {
    char *text;
    char **list;
    size_t count;
};

struct fleet {
    char *name;
    struct cw_profile_node nodes[FLEET_NODES_MAX];
    size_t count;
    char made[FLEET_NODES_MAX][64]; /* addresses out of a range */
    size_t made_count;
};

static inline char *golden_read(const char *name, const char *suffix, size_t *ret_len)
{
    char path[512];
    snprintf(path, sizeof path, GOLDEN_FOLDER "%s%s", name, suffix);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = malloc((size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), (size_t)size);
    text[size] = 0;
    fclose(file);
    if (ret_len)
        *ret_len = (size_t)size;
    return text;
}

static inline struct lines golden_lines(const char *name)
{
    struct lines lines = {golden_read(name, ".txt", NULL),
                          calloc(GOLDEN_KEY_COUNT + 64, sizeof(char *)), 0};
    assert_non_null(lines.list);
    for (char *at = lines.text; *at;) {
        char *end = strchr(at, '\n');
        if (end)
            *end = 0;
        if (strncmp(at, "#!", 2) != 0) {
            assert_in_range(lines.count, 0, GOLDEN_KEY_COUNT + 63);
            lines.list[lines.count++] = at;
        }
        at = end ? end + 1 : at + strlen(at);
    }
    return lines;
}

static inline void golden_lines_free(struct lines *lines)
{
    free(lines->text);
    free(lines->list);
}

/* Cuts text at the first of these characters; what follows, or NULL. */
static inline char *golden_cut(char *text, const char *at)
{
    char *found = strpbrk(text, at);
    if (!found)
        return NULL;
    *found = 0;
    return found + 1;
}

/* ADDRESS[*WEIGHT][=NAME][#NUMBER][!down]; the strings stay in the text. */
static inline struct cw_profile_node golden_node(char *text)
{
    struct cw_profile_node node = {.weight = 1};
    char *down = golden_cut(text, "!"), *number = golden_cut(text, "#");
    char *name = golden_cut(text, "="), *weight = golden_cut(text, "*");
    node.address = text;
    node.name = name;
    node.is_down = down != NULL;
    if (number)
        node.number = (uint32_t)strtoul(number, NULL, 10);
    if (weight)
        node.weight = strtod(weight, NULL);
    return node;
}

/* "10.0.1.[1-25]:11211" stands for 25 nodes. */
static inline void golden_add_nodes(struct fleet *fleet, char *text)
{
    char *open = strstr(text, ".["), *close = open ? strchr(open, ']') : NULL;
    char *dash = open ? strchr(open, '-') : NULL;
    if (!dash || !close) {
        fleet->nodes[fleet->count++] = golden_node(text);
        return;
    }
    for (long i = strtol(open + 2, NULL, 10), end = strtol(dash + 1, NULL, 10); i <= end; i++) {
        char *one = fleet->made[fleet->made_count++];
        snprintf(one, sizeof fleet->made[0], "%.*s.%ld%s", (int)(open - text), text, i, close + 1);
        fleet->nodes[fleet->count++] = golden_node(one);
    }
}

#endif
