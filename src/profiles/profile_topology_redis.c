/*
 * Reading CLUSTER NODES and CLUSTER SLOTS.
 */
#include "profiles/profile_topology.h"

#include <stdio.h>
#include <string.h>

enum { SLOT_COUNT = 16384 };

static int is_slot(int64_t number)
{
    return number >= 0 && number < SLOT_COUNT;
}

/* ---- CLUSTER NODES: id address flags master ping pong epoch link slot slot-slot [moving] ------
 */

static int is_master(const char *flags)
{
    return strstr(flags, "master") && !strstr(flags, "noaddr") && !strstr(flags, "handshake");
}

static int read_slots(struct profile_topology *topology, char *text, uint32_t node, unsigned line,
                      struct cw_error *error)
{
    int64_t first, last;
    char *dash = strchr(text, '-');
    if (dash)
        *dash = 0;
    if (!profile_topology_number(text, &first) || !is_slot(first) ||
        !profile_topology_number(dash ? dash + 1 : text, &last) || !is_slot(last) || last < first)
        return profile_topology_bad(error, line, "'%.32s' is no range of slots", text);
    return profile_topology_range(topology, first, last, node, error);
}

/* "10.0.0.1:6379@16379,name" without what comes behind the port. */
static int read_nodes_line(struct profile_topology *topology, char *line, unsigned number,
                           struct cw_error *error)
{
    char *words[8], *slots;
    uint32_t node = 0;
    for (unsigned i = 0; i < 8; i++) {
        words[i] = profile_topology_word(&line);
        if (!words[i])
            return i == 0 ? CW_OK
                          : profile_topology_bad(error, number,
                                                 "a line of CLUSTER NODES has at "
                                                 "least 8 words");
    }
    slots = profile_topology_word(&line);
    if (!is_master(words[2]) || !slots)
        return CW_OK;
    words[1][strcspn(words[1], "@,")] = 0;
    int status = profile_topology_node(topology, words[1], &node, error);
    for (; status == CW_OK && slots; slots = profile_topology_word(&line))
        if (slots[0] != '[')
            status = read_slots(topology, slots, node, number, error);
    return status;
}

/* ---- CLUSTER SLOTS: a stream of values, one a line; two numbers in a row open a range ---------
 */

struct slots_reader {
    int64_t first, last; /* of the range that is open */
    int64_t before;      /* the value before, if it was a number; or -1 */
    char *address;       /* of its first node, while the port is missing */
    int wants_node;
};

/* The value behind "1) 2) " and "(integer) ", without quotes. */
static char *value_of(char *line)
{
    for (;;) {
        line += strspn(line, " \t");
        size_t digits = strspn(line, "0123456789");
        if (digits == 0 || line[digits] != ')')
            break;
        line += digits + 1;
    }
    if (strncmp(line, "(integer) ", 10) == 0)
        line += 10;
    if (line[0] == '"') {
        line++;
        line[strcspn(line, "\"")] = 0;
    }
    return line;
}

/* The address and the port of the range's first node, which is its master. */
static int add_master(struct profile_topology *topology, struct slots_reader *reader,
                      const char *port, struct cw_error *error)
{
    uint32_t node;
    char *colon = reader->address + strlen(reader->address);
    size_t room = (size_t)(port - colon); /* both stand in the text, the port behind */
    size_t len = strlen(port);
    if (room < 1)
        return CW_EBAD_TEXT;
    *colon = ':';
    memmove(colon + 1, port, len + 1);
    reader->wants_node = 0;
    int status = profile_topology_node(topology, reader->address, &node, error);
    if (status == CW_OK)
        status = profile_topology_range(topology, reader->first, reader->last, node, error);
    reader->address = NULL;
    return status;
}

static int read_slots_line(struct profile_topology *topology, struct slots_reader *reader,
                           char *line, unsigned number, struct cw_error *error)
{
    int64_t value;
    char *text = value_of(line);
    int is_number = profile_topology_number(text, &value);
    if (is_number && reader->wants_node && reader->address)
        return add_master(topology, reader, text, error);
    if (is_number && reader->before >= 0) {
        if (!is_slot(reader->before) || !is_slot(value) || value < reader->before)
            return profile_topology_bad(error, number, "%lld-%lld is no range of slots",
                                        (long long)reader->before, (long long)value);
        *reader = (struct slots_reader){reader->before, value, -1, NULL, 1};
        return CW_OK;
    }
    reader->before = is_number ? value : -1;
    if (!is_number && reader->wants_node && !reader->address && *text)
        reader->address = text;
    return CW_OK;
}

/* ---- both ------------------------------------------------------------------------------------ */

static int looks_like_nodes(const char *text)
{
    return strstr(text, " master ") || strstr(text, ",master ") || strstr(text, " slave ");
}

int profile_topology_redis(struct profile_topology *topology, const char *text, size_t len,
                           struct cw_error *error)
{
    struct slots_reader reader = {.before = -1};
    char *at, *line;
    unsigned number = 0;
    int status = profile_topology_begin(topology, text, len, &at, error);
    if (status != CW_OK)
        return status;
    int is_nodes = looks_like_nodes(at);
    while (status == CW_OK && (line = profile_topology_line(&at)) != NULL) {
        number++;
        status = is_nodes ? read_nodes_line(topology, line, number, error)
                          : read_slots_line(topology, &reader, line, number, error);
    }
    if (status == CW_OK && topology->range_count == 0)
        return profile_topology_bad(error, number,
                                    "no node owns a slot: give the answer of CLUSTER "
                                    "NODES or CLUSTER SLOTS");
    return status;
}
