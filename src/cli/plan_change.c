#include "cli/plan_change.h"

#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "io/address.h"

enum { SUGGEST_AMONG_MAX = 1000 };

int node_list_init(struct node_list *list, const struct cw_map *map, size_t more_max)
{
    *list = (struct node_list){.count = map ? cw_map_node_count(map) : 0};
    list->capacity = list->count + more_max;
    list->nodes = calloc(list->capacity + 1, sizeof *list->nodes);
    list->texts = calloc(more_max + 1, sizeof *list->texts);
    if (!list->nodes || !list->texts)
        return cli_fail("out of memory");
    for (size_t i = 0; i < list->count; i++)
        list->nodes[i] = *cw_map_node(map, (uint32_t)i);
    return CLI_OK;
}

void node_list_release(struct node_list *list)
{
    for (size_t i = 0; i < list->text_count; i++)
        buffer_release(&list->texts[i]);
    free(list->texts);
    free(list->nodes);
}

static struct cw_node *find(struct node_list *list, const char *id)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->nodes[i].id, id) == 0)
            return &list->nodes[i];
    return NULL;
}

static int no_such_node(const struct node_list *list, const char *id)
{
    const char *ids[SUGGEST_AMONG_MAX];
    size_t count = 0;
    for (; count < list->count && count < SUGGEST_AMONG_MAX; count++)
        ids[count] = list->nodes[count].id;
    const char *nearest = suggest_nearest(id, ids, count);
    if (nearest)
        return cli_fail("no such node '%s'; did you mean '%s'?", id, nearest);
    return cli_fail("no such node '%s'", id);
}

/* A copy of an argument that may be cut up; it lives as long as the list. */
static char *keep_text(struct node_list *list, const char *text)
{
    struct buffer *copy = &list->texts[list->text_count++];
    return buffer_append(copy, text, strlen(text) + 1) ? buffer_bytes(copy) : NULL;
}

static int read_weight(const struct cli_command *command, const char *text, uint32_t *ret_weight)
{
    char *end = NULL;
    unsigned long weight = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || weight < 1 || weight > CW_WEIGHT_MAX)
        return cli_usage(command, "weight '%s': use a whole number from 1 to %u", text,
                         CW_WEIGHT_MAX);
    *ret_weight = (uint32_t)weight;
    return CLI_OK;
}

/* "weight=W" or "zone=Z" */
static int read_property(const struct cli_command *command, char *text, struct cw_node *node)
{
    if (strncmp(text, "weight=", 7) == 0)
        return read_weight(command, text + 7, &node->weight);
    if (strncmp(text, "zone=", 5) == 0) {
        node->zone = text + 5;
        return CLI_OK;
    }
    return cli_usage(command, "node '%s': unknown property '%s'; use weight=W and zone=Z", node->id,
                     text);
}

int node_list_add(struct node_list *list, const struct cli_command *command, const char *text)
{
    struct cw_node node = {.weight = 1, .zone = "", .address = ""};
    char *rest = keep_text(list, text);
    if (!rest)
        return cli_fail("out of memory");
    char *id = strsep(&rest, ",");
    node.id = strsep(&id, "=");
    node.address = id ? id : "";
    const char *problem = id ? address_problem(id) : NULL;
    if (problem)
        return cli_usage(command, "node '%s': '%s' is no address: %s", node.id, id, problem);
    for (char *property; (property = strsep(&rest, ","));) {
        int status = read_property(command, property, &node);
        if (status != CLI_OK)
            return status;
    }
    if (find(list, node.id))
        return cli_fail("node '%s' is there already; --weight %s=W changes its weight", node.id,
                        node.id);
    list->nodes[list->count++] = node;
    return CLI_OK;
}

int node_list_remove(struct node_list *list, const struct cli_command *command, const char *id)
{
    struct cw_node *node = find(list, id);
    if (!node)
        return no_such_node(list, id);
    *node = list->nodes[--list->count];
    return CLI_OK;
}

int node_list_weigh(struct node_list *list, const struct cli_command *command, const char *text)
{
    char *weight = keep_text(list, text);
    if (!weight)
        return cli_fail("out of memory");
    const char *id = strsep(&weight, "=");
    if (!weight)
        return cli_usage(command, "--weight %s: write --weight ID=W", text);
    struct cw_node *node = find(list, id);
    if (!node)
        return no_such_node(list, id);
    return read_weight(command, weight, &node->weight);
}
