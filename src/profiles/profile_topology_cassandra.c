/*
 * Reading `nodetool ring`, and a plain table of "address datacenter rack token,token,...".
 */
#include "profiles/profile_topology.h"

#include <string.h>

static int add_token(struct profile_topology *topology, const char *text, uint32_t node,
                     unsigned line, struct cw_error *error)
{
    int64_t token;
    if (!profile_topology_number(text, &token))
        return profile_topology_bad(error, line, "'%.32s' is no token", text);
    return profile_topology_range(topology, token, token, node, error);
}

/* The node of the address, with its place. */
static int add_node(struct profile_topology *topology, const char *address, const char *datacenter,
                    const char *rack, uint32_t *ret_node, struct cw_error *error)
{
    int status = profile_topology_node(topology, address, ret_node, error);
    if (status == CW_OK) {
        topology->nodes[*ret_node].datacenter = datacenter;
        topology->nodes[*ret_node].rack = rack;
    }
    return status;
}

/* ---- nodetool ring: Address Rack Status State Load Owns Token, under "Datacenter: name" --------
 */

struct ring_reader {
    const char *datacenter;
};

static int is_status(const char *word)
{
    return word && (strcmp(word, "Up") == 0 || strcmp(word, "Down") == 0);
}

/* The line's first three words decide whether it is one of a node; its last word is the token. */
static int read_ring_line(struct profile_topology *topology, struct ring_reader *reader, char *line,
                          unsigned number, struct cw_error *error)
{
    uint32_t node;
    char *first = profile_topology_word(&line), *rack = profile_topology_word(&line);
    char *token = NULL;
    if (!first || !rack)
        return CW_OK;
    if (strcmp(first, "Datacenter:") == 0) {
        reader->datacenter = rack;
        return CW_OK;
    }
    if (!is_status(profile_topology_word(&line)))
        return CW_OK;
    for (char *word; (word = profile_topology_word(&line)) != NULL;)
        token = word;
    if (!token)
        return profile_topology_bad(error, number, "a line of nodetool ring ends in a token");
    int status = add_node(topology, first, reader->datacenter, rack, &node, error);
    return status == CW_OK ? add_token(topology, token, node, number, error) : status;
}

/* ---- the plain table ------------------------------------------------------------------------- */

static int read_table_line(struct profile_topology *topology, char *line, unsigned number,
                           struct cw_error *error)
{
    char *words[4], *next;
    uint32_t node = 0;
    for (unsigned i = 0; i < 4; i++) {
        words[i] = profile_topology_word(&line);
        if (!words[i] || (i == 0 && words[i][0] == '#'))
            return i == 0 ? CW_OK
                          : profile_topology_bad(error, number,
                                                 "a line is address, datacenter, "
                                                 "rack, token,token,...");
    }
    int status = add_node(topology, words[0], words[1], words[2], &node, error);
    for (char *at = words[3]; status == CW_OK && at; at = next) {
        next = strchr(at, ',');
        if (next)
            *next++ = 0;
        status = add_token(topology, at, node, number, error);
    }
    return status;
}

int profile_topology_cassandra(struct profile_topology *topology, const char *text, size_t len,
                               struct cw_error *error)
{
    struct ring_reader reader = {""};
    char *at, *line;
    unsigned number = 0;
    int status = profile_topology_begin(topology, text, len, &at, error);
    if (status != CW_OK)
        return status;
    int is_ring = strstr(at, "Datacenter:") != NULL;
    while (status == CW_OK && (line = profile_topology_line(&at)) != NULL) {
        number++;
        status = is_ring ? read_ring_line(topology, &reader, line, number, error)
                         : read_table_line(topology, line, number, error);
    }
    if (status == CW_OK && topology->range_count == 0)
        return profile_topology_bad(error, number,
                                    "no node has a token: give the output of "
                                    "nodetool ring");
    return status;
}
