#include "cli/stored_note.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/map_difference.h"
#include "control/pool_file.h"

static bool are_equal(const struct cw_map *a, const struct cw_map *b)
{
    char *text_a = NULL, *text_b = NULL;
    size_t len_a = 0, len_b = 0;
    bool are_equal = cw_map_to_text(a, &text_a, &len_a) == CW_OK &&
                     cw_map_to_text(b, &text_b, &len_b) == CW_OK && len_a == len_b &&
                     memcmp(text_a, text_b, len_a) == 0;
    free(text_a);
    free(text_b);
    return are_equal;
}

static void print_note(const struct config_pool *pool, const struct map_record *record,
                       const char *folder)
{
    struct buffer difference = BUFFER_INIT;
    map_difference(pool->map, record->map, &difference);
    fprintf(stderr,
            "clockwise: note: this answers for the file. A router has stored another map of pool "
            "'%s' (%s/%s.json, generation %" PRIu64 "): %.*s; ask it with --admin\n",
            pool->name, folder, pool->name, cw_map_generation(record->map),
            (int)(difference.len ? difference.len : sizeof "it was changed since" - 1),
            difference.len ? buffer_bytes(&difference) : "it was changed since");
    buffer_release(&difference);
}

/* What cannot be read is no reason to say nothing at all of the file. */
void note_stored_map(const struct config *config, const struct config_pool *pool)
{
    bool is_off;
    char problem[MAP_PROBLEM_SIZE], *path = config_map_folder(config, &is_off);
    struct map_folder folder = {0};
    struct map_record *record = NULL;
    if (path && map_folder_open_to_read(path, &folder) == 0) {
        if (pool_file_peek(&folder, pool->name, &record, problem) == 0 &&
            !are_equal(pool->map, record->map))
            print_note(pool, record, path);
        map_record_destroy(&record);
        map_folder_close(&folder);
    }
    free(path);
}
