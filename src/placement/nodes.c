#include "placement/nodes.h"

#include "placement/error.h"
#include "placement/memory.h"

#include <stdlib.h>
#include <string.h>

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static int is_name_char(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("._-:@/[]", c));
}

static int is_name(const char *name)
{
    size_t len = strnlen(name, CW_ID_LEN_MAX + 1);
    for (size_t i = 0; i < len; i++)
        if (!is_name_char((unsigned char)name[i]))
            return 0;
    return len <= CW_ID_LEN_MAX;
}

static int is_address(const char *address)
{
    size_t len = strnlen(address, CW_ADDRESS_LEN_MAX + 1);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)address[i];
        if (c <= ' ' || c > '~' || c == '"' || c == '\'' || c == '\\')
            return 0;
    }
    return len <= CW_ADDRESS_LEN_MAX;
}

static int check_node(const struct cw_node *node, struct cw_error *error)
{
    const char *id = or_empty(node->id);
    if (!*id || !is_name(id))
        return error_set(error, CW_EBAD_ID,
                         "node id '%.64s': use 1 to %u letters, digits and . _ - : @ / [ ]", id,
                         CW_ID_LEN_MAX);
    if (node->weight < 1 || node->weight > CW_WEIGHT_MAX)
        return error_set(error, CW_EBAD_WEIGHT, "node '%s' has weight %u: use 1 to %u", id,
                         node->weight, CW_WEIGHT_MAX);
    if (!is_name(or_empty(node->zone)))
        return error_set(error, CW_EBAD_ZONE,
                         "node '%s' has zone '%.64s': use at most %u letters, digits and . _ - : "
                         "@ / [ ]",
                         id, node->zone, CW_ID_LEN_MAX);
    if (!is_address(or_empty(node->address)))
        return error_set(error, CW_EBAD_ADDRESS,
                         "node '%s' has address '%.64s': use at most %u printable characters "
                         "without space, quotes and backslash",
                         id, node->address, CW_ADDRESS_LEN_MAX);
    return CW_OK;
}

static int check_all(const struct cw_node *given, size_t count, size_t *ret_bad,
                     struct cw_error *error)
{
    *ret_bad = count;
    if (count == 0)
        return error_set(error, CW_ENO_NODES, "a map needs at least one node: add one");
    if (!given)
        return error_set(error, CW_EINVAL, "%zu nodes are promised and none is given", count);
    if (count > CW_NODE_COUNT_MAX)
        return error_set(error, CW_ETOO_MANY_NODES, "%zu nodes: a map has at most %u", count,
                         CW_NODE_COUNT_MAX);
    for (size_t i = 0; i < count; i++) {
        int status = check_node(&given[i], error);
        if (status != CW_OK) {
            *ret_bad = i;
            return status;
        }
    }
    return CW_OK;
}

static int by_id(const void *one, const void *other)
{
    const struct cw_node *const *a = one, *const *b = other;
    int order = strcmp((*a)->id, (*b)->id);
    return order ? order : (*a > *b) - (*a < *b);
}

/* The given nodes in the order of their ids. */
static int sort_given(const struct cw_node *given, size_t count, const struct cw_node ***ret_sorted,
                      size_t *ret_bad, struct cw_error *error)
{
    const struct cw_node **sorted = memory_alloc(count, sizeof *sorted);
    if (!sorted)
        return error_no_memory(error);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &given[i];
    qsort(sorted, count, sizeof *sorted, by_id);
    for (size_t i = 1; i < count; i++)
        if (strcmp(sorted[i - 1]->id, sorted[i]->id) == 0) {
            int status = error_set(error, CW_EDUPLICATE_ID,
                                   "two nodes have the id '%s': give each its own", sorted[i]->id);
            *ret_bad = (size_t)(sorted[i] - given);
            free(sorted);
            return status;
        }
    *ret_sorted = sorted;
    return CW_OK;
}

static char *put_text(char **at, const char *text)
{
    char *to = *at;
    size_t size = strlen(text) + 1;
    memcpy(to, text, size);
    *at += size;
    return to;
}

static void copy_nodes(struct nodes *nodes, const struct cw_node **sorted)
{
    char *at = nodes->text;
    nodes->weights_equal = 1;
    for (uint32_t i = 0; i < nodes->count; i++) {
        const struct cw_node *from = sorted[i];
        struct cw_node *to = &nodes->list[i];
        to->id = put_text(&at, from->id);
        to->address = put_text(&at, or_empty(from->address));
        to->zone = put_text(&at, or_empty(from->zone));
        to->weight = from->weight;
        nodes->rank[i] = rank_node(cw_hash(to->id, strlen(to->id)), to->weight, i);
        nodes->weight_sum += to->weight;
        nodes->weights_equal &= to->weight == nodes->list[0].weight;
    }
}

static int by_zone(const void *one, const void *other)
{
    const struct cw_node *const *a = one, *const *b = other;
    return strcmp((*a)->zone, (*b)->zone);
}

/* Numbers zones in the order of their names; sorted is scratch. */
static void number_zones(struct nodes *nodes, const struct cw_node **sorted)
{
    for (uint32_t i = 0; i < nodes->count; i++)
        sorted[i] = &nodes->list[i];
    qsort(sorted, nodes->count, sizeof *sorted, by_zone);
    for (uint32_t i = 0; i < nodes->count; i++) {
        const char *zone = sorted[i]->zone;
        if (i == 0 || !*zone || strcmp(zone, sorted[i - 1]->zone) != 0)
            nodes->zone_count++;
        nodes->zones[sorted[i] - nodes->list] = nodes->zone_count - 1;
    }
}

static size_t text_size(const struct cw_node *given, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += strlen(given[i].id) + strlen(or_empty(given[i].address)) +
                strlen(or_empty(given[i].zone)) + 3;
    return size;
}

int nodes_init(struct nodes *nodes, const struct cw_node *given, size_t count, size_t *ret_bad,
               struct cw_error *error)
{
    const struct cw_node **sorted = NULL;
    memset(nodes, 0, sizeof *nodes);
    int status = check_all(given, count, ret_bad, error);
    if (status == CW_OK)
        status = sort_given(given, count, &sorted, ret_bad, error);
    if (status != CW_OK)
        return status;
    nodes->count = (uint32_t)count;
    nodes->text_size = text_size(given, count);
    nodes->list = memory_alloc(count, sizeof *nodes->list);
    nodes->rank = memory_alloc(count, sizeof *nodes->rank);
    nodes->zones = memory_alloc(count, sizeof *nodes->zones);
    nodes->text = memory_alloc(nodes->text_size, 1);
    if (nodes->list && nodes->rank && nodes->zones && nodes->text) {
        copy_nodes(nodes, sorted);
        number_zones(nodes, sorted);
    } else {
        nodes_fini(nodes);
        status = error_no_memory(error);
    }
    free(sorted);
    return status;
}

void nodes_fini(struct nodes *nodes)
{
    free(nodes->list);
    free(nodes->rank);
    free(nodes->zones);
    free(nodes->text);
    memset(nodes, 0, sizeof *nodes);
}

uint32_t nodes_find(const struct nodes *nodes, const char *id)
{
    uint32_t low = 0, high = nodes->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(nodes->list[middle].id, id);
        if (order == 0)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return CW_NO_NODE;
}

size_t nodes_memory(const struct nodes *nodes)
{
    return nodes->count * (sizeof *nodes->list + sizeof *nodes->rank + sizeof *nodes->zones) +
           nodes->text_size;
}
