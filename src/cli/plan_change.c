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
    if (map && cw_map_profile_map(map))
        list->servers = calloc(list->capacity + 1, sizeof *list->servers);
    if (!list->nodes || !list->texts || (map && cw_map_profile_map(map) && !list->servers))
        return cli_fail("out of memory");
    for (size_t i = 0; i < list->count; i++) {
        uint32_t place;
        list->nodes[i] = *cw_map_node(map, (uint32_t)i);
        if (list->servers)
            cw_map_server(map, (uint32_t)i, &list->servers[i], &place);
    }
    return CLI_OK;
}

void node_list_release(struct node_list *list)
{
    for (size_t i = 0; i < list->text_count; i++)
        buffer_release(&list->texts[i]);
    free(list->texts);
    free(list->nodes);
    free(list->servers);
}

/* list->count when there is none. */
static size_t find(const struct node_list *list, const char *id)
{
    size_t at = 0;
    while (at < list->count && strcmp(list->nodes[at].id, id) != 0)
        at++;
    return at;
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

/* Another system may know fractions and 0; our own weight is what can be said in ours. */
static int read_server_weight(const struct cli_command *command, const char *text,
                              struct cw_node *node, struct cw_profile_node *server)
{
    char *end = NULL;
    double weight = strtod(text, &end);
    if (text[0] < '0' || text[0] > '9' || *end || !(weight <= CW_WEIGHT_MAX))
        return cli_usage(command, "weight '%s': use a number from 0 to %u", text, CW_WEIGHT_MAX);
    server->weight = weight;
    node->weight = weight >= 1 && weight == (double)(uint32_t)weight ? (uint32_t)weight : 1;
    return CLI_OK;
}

static int weigh(const struct node_list *list, const struct cli_command *command, const char *text,
                 size_t at)
{
    if (list->servers)
        return read_server_weight(command, text, &list->nodes[at], &list->servers[at]);
    return read_weight(command, text, &list->nodes[at].weight);
}

/* ---- one more -------------------------------------------------------------------------------- */

/* What only servers of another system have; false when it is none of that. */
static bool read_server_property(const char *text, struct cw_profile_node *server)
{
    char *end;
    if (strncmp(text, "name=", 5) == 0) {
        server->name = text + 5;
    } else if (strncmp(text, "server=", 7) == 0) {
        server->address = text + 7;
    } else if (strcmp(text, "down") == 0) {
        server->is_down = 1;
    } else if (strncmp(text, "number=", 7) == 0 && text[7] >= '1' && text[7] <= '9') {
        unsigned long number = strtoul(text + 7, &end, 10);
        server->number = (uint32_t)number;
        return *end == 0 && number <= UINT32_MAX;
    } else {
        return false;
    }
    return true;
}

static int read_property(const struct node_list *list, const struct cli_command *command,
                         char *text, size_t at)
{
    struct cw_node *node = &list->nodes[at];
    if (strncmp(text, "weight=", 7) == 0)
        return weigh(list, command, text + 7, at);
    if (strncmp(text, "zone=", 5) == 0) {
        node->zone = text + 5;
        return CLI_OK;
    }
    if (list->servers && read_server_property(text, &list->servers[at]))
        return CLI_OK;
    return cli_usage(command, "node '%s': unknown property '%s'; use weight=W and zone=Z%s",
                     node->id, text,
                     list->servers ? ", name=NAME, number=N, server=TEXT and down" : "");
}

int node_list_add(struct node_list *list, const struct cli_command *command, const char *text)
{
    size_t at = list->count;
    char *rest = keep_text(list, text);
    if (!rest)
        return cli_fail("out of memory");
    char *id = strsep(&rest, ",");
    struct cw_node *node = &list->nodes[at];
    *node = (struct cw_node){.id = strsep(&id, "="), .weight = 1, .zone = ""};
    node->address = id ? id : "";
    if (list->servers)
        list->servers[at] = (struct cw_profile_node){.weight = 1};
    const char *problem = id ? address_problem(id) : NULL;
    if (problem)
        return cli_usage(command, "node '%s': '%s' is no address: %s", node->id, id, problem);
    for (char *property; (property = strsep(&rest, ","));) {
        int status = read_property(list, command, property, at);
        if (status != CLI_OK)
            return status;
    }
    if (find(list, node->id) < list->count)
        return cli_fail("node '%s' is there already; --weight %s=W changes its weight", node->id,
                        node->id);
    list->count++;
    return CLI_OK;
}

/* ---- the others ------------------------------------------------------------------------------ */

/* The order stays: it may be a part of the placement. */
int node_list_remove(struct node_list *list, const struct cli_command *command, const char *id)
{
    size_t at = find(list, id);
    if (at == list->count)
        return no_such_node(list, id);
    size_t behind = --list->count - at;
    memmove(&list->nodes[at], &list->nodes[at + 1], behind * sizeof *list->nodes);
    if (list->servers)
        memmove(&list->servers[at], &list->servers[at + 1], behind * sizeof *list->servers);
    return CLI_OK;
}

/* ID=VALUE, cut up. */
static int find_with_value(struct node_list *list, const struct cli_command *command,
                           const char *option, const char *text, size_t *ret_at,
                           const char **ret_value)
{
    char *value = keep_text(list, text);
    if (!value)
        return cli_fail("out of memory");
    const char *id = strsep(&value, "=");
    if (!value)
        return cli_usage(command, "--%s %s: write --%s ID=%s", option, text, option,
                         option[0] == 'w' ? "W" : "NAME");
    *ret_value = value;
    *ret_at = find(list, id);
    return *ret_at < list->count ? CLI_OK : no_such_node(list, id);
}

int node_list_weigh(struct node_list *list, const struct cli_command *command, const char *text)
{
    size_t at;
    const char *weight;
    int status = find_with_value(list, command, "weight", text, &at, &weight);
    return status == CLI_OK ? weigh(list, command, weight, at) : status;
}

int node_list_rename(struct node_list *list, const struct cli_command *command, const char *text)
{
    size_t at;
    const char *name;
    if (!list->servers)
        return cli_usage(command,
                         "--rename %s: only the servers of a profile have names that are "
                         "hashed; a node's id is its identity",
                         text);
    int status = find_with_value(list, command, "rename", text, &at, &name);
    if (status == CLI_OK)
        list->servers[at].name = name;
    return status;
}
