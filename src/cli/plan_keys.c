#include "cli/plan_keys.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

/* Where a move stands in the plan's array, found by its two nodes. */
struct move_place {
    uint32_t from, to;
    size_t index;
};

struct counting {
    const struct cw_plan *plan;
    const struct cw_map *from, *to;
    struct move_place *places; /* by from, then to */
    size_t place_count;
    bool list;
    struct buffer out;
    struct key_counts *counts;
    struct line lines[LINES_BATCH_MAX];
};

static int order_places(const void *one, const void *other)
{
    const struct move_place *a = one, *b = other;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->to > b->to) - (a->to < b->to);
}

static int make_places(struct counting *counting)
{
    size_t count;
    const struct cw_move *moves = cw_plan_moves(counting->plan, &count);
    counting->places = calloc(count + 1, sizeof *counting->places);
    counting->counts->by_move = calloc(count + 1, sizeof *counting->counts->by_move);
    if (!counting->places || !counting->counts->by_move)
        return -ENOMEM;
    for (size_t i = 0; i < count; i++)
        counting->places[i] = (struct move_place){moves[i].from_node, moves[i].to_node, i};
    qsort(counting->places, count, sizeof *counting->places, order_places);
    counting->place_count = count;
    return 0;
}

static void list_key(struct counting *counting, const struct line *key, uint32_t from, uint32_t to)
{
    buffer_append(&counting->out, key->text, key->len);
    buffer_printf(&counting->out, "\t%s\t%s\n", cw_map_node(counting->from, from)->id,
                  cw_map_node(counting->to, to)->id);
}

static void count_key(struct counting *counting, const struct line *key)
{
    struct move_place place = {0};
    counting->counts->total++;
    if (!cw_plan_locate_key(counting->plan, key->text, key->len, &place.from, &place.to))
        return;
    counting->counts->moving++;
    const struct move_place *found = bsearch(&place, counting->places, counting->place_count,
                                             sizeof place, order_places);
    if (found)
        counting->counts->by_move[found->index]++;
    if (counting->list)
        list_key(counting, key, place.from, place.to);
}

static int flush_list(struct counting *counting)
{
    if (counting->out.len)
        fwrite(buffer_bytes(&counting->out), 1, counting->out.len, stdout);
    buffer_clear(&counting->out);
    return ferror(stdout) ? -EIO : 0;
}

static int count_lines(struct counting *counting, int file)
{
    struct line_reader reader;
    int count, status = make_places(counting);
    lines_open(&reader, file, '\n');
    while (status == 0 && (count = lines_next(&reader, counting->lines)) != 0) {
        for (int i = 0; i < count; i++)
            count_key(counting, &counting->lines[i]);
        status = count < 0 ? count : flush_list(counting);
    }
    lines_close(&reader);
    return status;
}

int plan_count_keys(const struct cw_plan *plan, const struct cw_map *from, const struct cw_map *to,
                    int file, const char *name, bool list, struct key_counts *ret_counts)
{
    *ret_counts = (struct key_counts){0};
    struct counting *counting = calloc(1, sizeof *counting);
    if (!counting)
        return cli_fail("out of memory");
    counting->plan = plan;
    counting->from = from;
    counting->to = to;
    counting->list = list;
    counting->counts = ret_counts;
    int status = count_lines(counting, file);
    buffer_release(&counting->out);
    free(counting->places);
    free(counting);
    if (status == -EMSGSIZE)
        return cli_fail("%s: a line is longer than 64mb", name);
    return status < 0 ? cli_fail("%s: %s", name, strerror(-status)) : CLI_OK;
}

void key_counts_release(struct key_counts *counts)
{
    free(counts->by_move);
    counts->by_move = NULL;
}
