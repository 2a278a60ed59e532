/*
 * What the readers of topologies share: lines, words, numbers, and lists that grow.
 */
#include "profiles/profile_topology.h"

#include "placement/error.h"
#include "placement/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int profile_topology_bad(struct cw_error *error, unsigned line, const char *format, ...)
{
    char sentence[200];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    int status = error_set(error, CW_EBAD_TEXT, "topology, line %u: %s", line, sentence);
    if (error) {
        error->line = line;
        error->column = 1;
    }
    return status;
}

int profile_topology_begin(struct profile_topology *topology, const char *text, size_t len,
                           char **ret_at, struct cw_error *error)
{
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        len -= 3;
    }
    topology->text = memory_alloc(len + 1, 1);
    if (!topology->text)
        return error_no_memory(error);
    memcpy(topology->text, text, len);
    *ret_at = topology->text;
    return CW_OK;
}

char *profile_topology_line(char **at)
{
    char *line = *at;
    if (!*line)
        return NULL;
    size_t len = strcspn(line, "\n");
    *at = line + len + (line[len] == '\n');
    line[len] = 0;
    if (len && line[len - 1] == '\r')
        line[len - 1] = 0;
    return line;
}

char *profile_topology_word(char **line)
{
    char *word = *line + strspn(*line, " \t");
    size_t len = strcspn(word, " \t");
    if (len == 0)
        return NULL;
    *line = word + len + (word[len] != 0);
    word[len] = 0;
    return word;
}

int profile_topology_number(const char *text, int64_t *ret_number)
{
    char *end;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || text[0] == '+' || text[0] == ' ')
        return 0;
    *ret_number = number;
    return 1;
}

/* Room for one more of a list of things of that size. */
static int make_room(void *list, size_t count, size_t *room, size_t size)
{
    void *block;
    memcpy(&block, list, sizeof block); /* the list's own pointer type is not ours to alias */
    if (count < *room)
        return CW_OK;
    size_t wanted = *room ? *room * 2 : 64;
    void *grown = memory_resize(block, wanted * size);
    if (!grown)
        return CW_ENOMEM;
    memcpy(list, &grown, sizeof grown);
    *room = wanted;
    return CW_OK;
}

/* Where the address stands in the index, or would: a text may name 100000 nodes a hundred times. */
static uint32_t *find_place(const struct profile_topology *topology, const char *address)
{
    size_t mask = topology->index_size - 1, at = cw_hash(address, strlen(address)) & mask;
    while (topology->index[at] &&
           strcmp(topology->nodes[topology->index[at] - 1].address, address) != 0)
        at = (at + 1) & mask;
    return &topology->index[at];
}

/* At least twice as many places as nodes. */
static int grow_index(struct profile_topology *topology)
{
    uint32_t *old = topology->index;
    if (topology->node_count * 2 < topology->index_size)
        return CW_OK;
    size_t size = topology->index_size ? topology->index_size * 4 : 256;
    topology->index = memory_alloc(size, sizeof *topology->index);
    if (!topology->index) {
        topology->index = old;
        return CW_ENOMEM;
    }
    topology->index_size = size;
    for (size_t i = 0; i < topology->node_count; i++)
        *find_place(topology, topology->nodes[i].address) = (uint32_t)i + 1;
    free(old);
    return CW_OK;
}

int profile_topology_node(struct profile_topology *topology, const char *address,
                          uint32_t *ret_node, struct cw_error *error)
{
    size_t count = topology->node_count;
    if (grow_index(topology) != CW_OK ||
        make_room(&topology->nodes, count, &topology->node_room, sizeof *topology->nodes) != CW_OK)
        return error_no_memory(error);
    uint32_t *place = find_place(topology, address);
    if (*place == 0) {
        if (count >= CW_NODE_COUNT_MAX)
            return error_set(error, CW_ETOO_MANY_NODES, "the topology has more than %u nodes",
                             CW_NODE_COUNT_MAX);
        topology->nodes[count] = (struct profile_topology_node){address, "", ""};
        topology->node_count++;
        *place = (uint32_t)count + 1;
    }
    *ret_node = *place - 1;
    return CW_OK;
}

int profile_topology_range(struct profile_topology *topology, int64_t first, int64_t last,
                           uint32_t node, struct cw_error *error)
{
    size_t count = topology->range_count;
    if (make_room(&topology->ranges, count, &topology->range_room, sizeof *topology->ranges) !=
        CW_OK)
        return error_no_memory(error);
    topology->ranges[count] = (struct profile_range){first, last, node};
    topology->range_count++;
    return CW_OK;
}

void profile_topology_fini(struct profile_topology *topology)
{
    free(topology->text);
    free(topology->nodes);
    free(topology->index);
    free(topology->ranges);
    memset(topology, 0, sizeof *topology);
}
