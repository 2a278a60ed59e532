/*
 * For tests of the map store: maps, records, transitions, and what is in a file of its folder.
 */
#ifndef TESTS_CONTROL_MAP_RIG_H
#define TESTS_CONTROL_MAP_RIG_H

#include <fcntl.h>

#include "move/map_store.h"
#include "store/dir_rig.h"

/* Nodes n0, n1, … at a loopback address each. */
static inline struct cw_map *rig_map(uint64_t generation, unsigned node_count)
{
    static char texts[16][2][32];
    struct cw_node nodes[16];
    struct cw_map *map = NULL;
    for (unsigned i = 0; i < node_count; i++) {
        snprintf(texts[i][0], 32, "n%u", i);
        snprintf(texts[i][1], 32, "127.0.0.1:%u", 7000 + i);
        nodes[i] = (struct cw_node){texts[i][0], texts[i][1], i % 2 ? "b" : "a", 1 + i % 3};
    }
    struct cw_map_options options = {.nodes = nodes,
                                     .node_count = node_count,
                                     .generation = generation,
                                     .slot_count = CW_SLOT_COUNT_MIN};
    assert_int_equal(cw_map_create(&options, &map, NULL), CW_OK);
    return map;
}

static inline struct map_record rig_record(struct cw_map *map)
{
    return (struct map_record){.map = map, .next_transition = 1, .engine = "redis"};
}

static inline struct transition_info rig_transition(struct cw_map *from, struct cw_map *to)
{
    return (struct transition_info){
        .id = 1,
        .attempt = 2,
        .kind = TRANSITION_CHANGE,
        .state = TRANSITION_TRACKING,
        .is_paused = true,
        .may_purge = true,
        .throttle = {1000, 1 << 20, true},
        .from = from,
        .to = to,
        .reached_ms =
            {[TRANSITION_PREPARED] = 1700000000000, [TRANSITION_TRACKING] = 1700000000001},
        .keys_moved = 77,
        .bytes_moved = 7777,
        .held_us = 777,
        .who = "admin 127.0.0.1:5",
        .what = "add \"n3\"",
        .note = "a note\nof two lines, \xc3\xa4",
    };
}

static inline void rig_write(const struct dir_rig *rig, const char *name, const void *bytes,
                             size_t len)
{
    char path[RIG_PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", rig->path, name);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(write(file, bytes, len), len);
    close(file);
}

static inline void rig_write_text(const struct dir_rig *rig, const char *name, const char *text)
{
    rig_write(rig, name, text, strlen(text));
}

/* The length, or -1 when there is no such file. */
static inline ssize_t rig_read(const struct dir_rig *rig, const char *name, char *ret_text,
                               size_t size)
{
    char path[RIG_PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", rig->path, name);
    int file = open(path, O_RDONLY);
    if (file < 0)
        return -1;
    ssize_t len = read(file, ret_text, size - 1);
    close(file);
    assert_true(len >= 0);
    ret_text[len] = 0;
    return len;
}

static inline void rig_assert_has(const char *text, const char *wanted)
{
    if (!strstr(text, wanted))
        fail_msg("'%s' has no '%s'", text, wanted);
}

static inline void rig_assert_equal_maps(const struct cw_map *a, const struct cw_map *b)
{
    char *text_a = NULL, *text_b = NULL;
    size_t len_a, len_b;
    assert_int_equal(cw_map_to_text(a, &text_a, &len_a), CW_OK);
    assert_int_equal(cw_map_to_text(b, &text_b, &len_b), CW_OK);
    assert_string_equal(text_a, text_b);
    free(text_a);
    free(text_b);
}

#endif
