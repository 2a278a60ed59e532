#include "cli/plan_print.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <clockwise/profile.h>

#include "control/table.h"

/* ---- nodes of both maps ---------------------------------------------------------------------- */

/* A node before and after; its number is CW_NO_NODE on a side where it is not. */
struct node_pair {
    const char *id;
    uint32_t before, after;
};

/* Both maps have their nodes in the order of ids: one merge gives all of them. */
static bool next_pair(const struct planned *planned, uint32_t *before, uint32_t *after,
                      struct node_pair *ret_pair)
{
    const struct cw_node *one = cw_map_node(planned->from, *before);
    const struct cw_node *other = cw_map_node(planned->to, *after);
    if (!one && !other)
        return false;
    int order = !one ? 1 : !other ? -1 : strcmp(one->id, other->id);
    *ret_pair = (struct node_pair){order <= 0 ? one->id : other->id, CW_NO_NODE, CW_NO_NODE};
    if (order <= 0)
        ret_pair->before = (*before)++;
    if (order >= 0)
        ret_pair->after = (*after)++;
    return true;
}

static double share_of(const struct cw_map *map, uint32_t node)
{
    return node == CW_NO_NODE ? 0 : cw_map_share(map, node);
}

/* As the system has it, where there is a profile; below 0 where there is no such node. */
static double weight_of(const struct cw_map *map, uint32_t node)
{
    struct cw_profile_node server;
    uint32_t place;
    if (node == CW_NO_NODE)
        return -1;
    if (cw_map_server(map, node, &server, &place) == CW_OK)
        return server.weight;
    return cw_map_node(map, node)->weight;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void cell_weight(struct table *table, double weight)
{
    if (weight >= 0)
        table_cellf(table, "%.7g", weight);
    else
        table_cell(table, "-");
}

static void print_nodes(const struct planned *planned, bool has_color, struct buffer *out)
{
    static const char *const titles[] = {"NODE",  ">WEIGHT", ">THEN", ">SHARE",
                                         ">THEN", ">CHANGE", NULL};
    struct table table;
    struct node_pair pair;
    table_init(&table, titles, has_color);
    for (uint32_t before = 0, after = 0; next_pair(planned, &before, &after, &pair);) {
        double was = share_of(planned->from, pair.before), is = share_of(planned->to, pair.after);
        table_cell(&table, pair.id);
        cell_weight(&table, weight_of(planned->from, pair.before));
        cell_weight(&table, weight_of(planned->to, pair.after));
        table_cellf(&table, "%.2f %%", was * 100);
        table_cellf(&table, "%.2f %%", is * 100);
        table_cellf(&table, "%+.2f %%", (is - was) * 100);
    }
    table_print(&table, "", out);
    table_release(&table);
}

static void print_moves(const struct planned *planned, bool has_color, struct buffer *out)
{
    static const char *const titles[] = {"FROM", "TO", ">SHARE", ">KEYS", NULL};
    static const char *const titles_without_keys[] = {"FROM", "TO", ">SHARE", NULL};
    struct table table;
    size_t count;
    const struct cw_move *moves = cw_plan_moves(planned->plan, &count);
    if (count == 0)
        return;
    buffer_append_text(out, "\n");
    table_init(&table, planned->has_keys ? titles : titles_without_keys, has_color);
    for (size_t i = 0; i < count; i++) {
        table_cell(&table, cw_map_node(planned->from, moves[i].from_node)->id);
        table_cell(&table, cw_map_node(planned->to, moves[i].to_node)->id);
        table_cellf(&table, "%.2f %%", moves[i].share * 100);
        if (planned->has_keys)
            table_cellf(&table, "%" PRIu64, planned->keys.by_move[i]);
    }
    table_print(&table, "", out);
    table_release(&table);
}

static void print_head(const struct planned *planned, struct buffer *out)
{
    const char *from = cw_map_placement_name(planned->from);
    const char *to = cw_map_placement_name(planned->to);
    buffer_printf(out, "pool %s, placement %s", planned->pool, from);
    if (strcmp(from, to) != 0)
        buffer_printf(out, " to %s", to);
    buffer_printf(out, ", generation %" PRIu64 " to %" PRIu64 "\n\n",
                  cw_map_generation(planned->from), cw_map_generation(planned->from) + 1);
}

static void print_error(const struct planned *planned, struct buffer *out)
{
    double error = cw_plan_share_error(planned->plan) * 100;
    if (error == 0)
        return;
    if (cw_map_profile_map(planned->from) || cw_map_profile_map(planned->to))
        buffer_printf(out, "estimated from %" PRIu64 " generated keys, within %.2f %%\n",
                      planned->sample_count, error);
    else
        buffer_printf(out, "the placement has no ranges: estimated within %.2f %% of all keys\n",
                      error);
}

void plan_print_tables(const struct planned *planned, struct buffer *out)
{
    bool has_color = table_wants_color(STDOUT_FILENO);
    const struct key_counts *keys = &planned->keys;
    print_head(planned, out);
    print_nodes(planned, has_color, out);
    print_moves(planned, has_color, out);
    buffer_printf(out,
                  "\n%.2f %% of the keys move; ideal would be %.2f %%; %.2f %% move without need\n",
                  cw_plan_share(planned->plan) * 100, cw_plan_ideal_share(planned->plan) * 100,
                  cw_plan_needless_share(planned->plan) * 100);
    print_error(planned, out);
    if (planned->has_slots)
        buffer_printf(out, "with slots the same change would move %.2f %%, %.2f %% without need\n",
                      planned->slots_share * 100, planned->slots_needless_share * 100);
    if (planned->has_keys)
        buffer_printf(out, "%" PRIu64 " of the %" PRIu64 " key%s given move%s (%.2f %%)\n",
                      keys->moving, keys->total, keys->total == 1 ? "" : "s",
                      keys->moving == 1 ? "s" : "",
                      keys->total ? 100.0 * (double)keys->moving / (double)keys->total : 0.0);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* A whole number where it is one; 0 for a node that is not there. */
static json_t *json_weight(double weight)
{
    if (weight < 0)
        return json_integer(0);
    json_int_t whole = (json_int_t)weight;
    return (double)whole == weight ? json_integer(whole) : json_real(weight);
}

static json_t *json_nodes(const struct planned *planned)
{
    json_t *nodes = json_array();
    struct node_pair pair;
    for (uint32_t before = 0, after = 0; next_pair(planned, &before, &after, &pair);)
        json_array_append_new(
            nodes, json_pack("{s:s, s:o, s:o, s:f, s:f}", "id", pair.id, "weight_before",
                             json_weight(weight_of(planned->from, pair.before)), "weight_after",
                             json_weight(weight_of(planned->to, pair.after)), "share_before",
                             share_of(planned->from, pair.before), "share_after",
                             share_of(planned->to, pair.after)));
    return nodes;
}

static json_t *json_moves(const struct planned *planned)
{
    json_t *moves = json_array();
    size_t count;
    const struct cw_move *move = cw_plan_moves(planned->plan, &count);
    for (size_t i = 0; i < count; i++, move++) {
        json_t *object = json_pack("{s:s, s:s, s:f, s:I}", "from",
                                   cw_map_node(planned->from, move->from_node)->id, "to",
                                   cw_map_node(planned->to, move->to_node)->id, "share",
                                   move->share, "ranges", (json_int_t)move->range_count);
        if (planned->has_keys)
            json_object_set_new(object, "keys", json_integer((json_int_t)planned->keys.by_move[i]));
        json_array_append_new(moves, object);
    }
    return moves;
}

bool plan_print_json(const struct planned *planned, struct buffer *out)
{
    json_t *root = json_pack(
        "{s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:o, s:o}", "pool", planned->pool, "placement",
        cw_map_placement_name(planned->from), "generation_before",
        (json_int_t)cw_map_generation(planned->from), "generation_after",
        (json_int_t)cw_map_generation(planned->to), "share", cw_plan_share(planned->plan),
        "share_error", cw_plan_share_error(planned->plan), "ideal_share",
        cw_plan_ideal_share(planned->plan), "needless_share", cw_plan_needless_share(planned->plan),
        "nodes", json_nodes(planned), "moves", json_moves(planned));
    if (root && planned->has_slots)
        json_object_set_new(root, "with_slots",
                            json_pack("{s:f, s:f}", "share", planned->slots_share, "needless_share",
                                      planned->slots_needless_share));
    if (root && planned->has_keys)
        json_object_set_new(root, "keys",
                            json_pack("{s:I, s:I}", "total", (json_int_t)planned->keys.total,
                                      "moving", (json_int_t)planned->keys.moving));
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    bool ok = text && buffer_append_text(out, text) && buffer_append_text(out, "\n");
    free(text);
    json_decref(root);
    return ok;
}
