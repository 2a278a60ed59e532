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

/* ---- cases.txt --------------------------------------------------------------------------------
 */

/* A line of it: what made a golden file. The options have the nodes; a topology is freed by the
 * next call. */
struct golden_case {
    const char *file, *profile, *kind;
    const struct fleet *fleet; /* NULL: numbers, or a topology */
    struct cw_profile_options options;
};

struct golden_cases {
    struct fleet fleets[FLEET_COUNT_MAX];
    size_t fleet_count;
    char *text, *next, *topology;
};

static inline void golden_open(struct golden_cases *cases)
{
    memset(cases, 0, sizeof *cases);
    cases->text = cases->next = golden_read("cases", ".txt", NULL);
}

static inline const struct fleet *golden_fleet(const struct golden_cases *cases, const char *name)
{
    for (size_t i = 0; i < cases->fleet_count; i++)
        if (strcmp(cases->fleets[i].name, name) == 0)
            return &cases->fleets[i];
    fail_msg("no fleet %s", name);
    abort(); /* never reached; fail_msg() does not say so */
}

static inline void golden_read_fleet(struct golden_cases *cases, char **at)
{
    assert_in_range(cases->fleet_count, 0, FLEET_COUNT_MAX - 1);
    struct fleet *fleet = &cases->fleets[cases->fleet_count++];
    fleet->name = strtok_r(NULL, " ", at);
    for (char *node; (node = strtok_r(NULL, " ", at)) != NULL;)
        golden_add_nodes(fleet, node);
}

static inline void golden_set(struct golden_cases *cases, struct cw_profile_options *options,
                              char *text)
{
    struct cw_error error = {0};
    char *value = golden_cut(text, "=");
    assert_non_null(value);
    if (strcmp(text, "topology") == 0)
        options->topology = cases->topology = golden_read(value, ".txt", &options->topology_len);
    else if (cw_profile_options_set(options, text, value, &error) != CW_OK)
        fail_msg("%s", error.message);
}

static inline void golden_read_case(struct golden_cases *cases, char *file, char **at,
                                    struct golden_case *ret_case)
{
    char *profile = strtok_r(NULL, " ", at), *fleet = strtok_r(NULL, " ", at);
    char *kind = strtok_r(NULL, " ", at);
    assert_non_null(kind);
    *ret_case = (struct golden_case){.file = file, .profile = profile, .kind = kind};
    for (char *setting; (setting = strtok_r(NULL, " ", at)) != NULL;)
        golden_set(cases, &ret_case->options, setting);
    if (strcmp(fleet, "-") == 0)
        return;
    ret_case->fleet = golden_fleet(cases, fleet);
    ret_case->options.nodes = ret_case->fleet->nodes;
    ret_case->options.node_count = ret_case->fleet->count;
}

/* The next case; at the end 0, and everything is freed. */
static inline int golden_next(struct golden_cases *cases, struct golden_case *ret_case)
{
    free(cases->topology);
    cases->topology = NULL;
    for (char *line; (line = strtok_r(NULL, "\n", &cases->next)) != NULL;) {
        char *at = NULL, *word = strtok_r(line, " ", &at);
        if (!word || word[0] == '#')
            continue;
        if (strcmp(word, "fleet") != 0) {
            golden_read_case(cases, word, &at, ret_case);
            return 1;
        }
        golden_read_fleet(cases, &at);
    }
    free(cases->text);
    cases->text = NULL;
    return 0;
}

static inline struct cw_profile_map *golden_map(const char *profile,
                                                const struct cw_profile_options *options)
{
    struct cw_profile_map *map = NULL;
    struct cw_error error = {0};
    const struct cw_profile *found = cw_profile_find(profile);
    if (!found)
        fail_msg("no profile %s", profile);
    if (cw_profile_map_create(found, options, &map, &error) != CW_OK)
        fail_msg("%s: %s", profile, error.message);
    return map;
}

#endif
