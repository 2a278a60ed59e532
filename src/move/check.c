#include "move/check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DUMP_VALKEY_9 = 80, DUMP_LAST_SHARED = 11 };

/* A node and what is known of it. */
struct subject {
    const struct cw_node *node;
    const struct node_facts *facts;
};

static struct subject from_at(const struct check_input *input, uint32_t i)
{
    return (struct subject){cw_map_node(input->from, i), &input->from_facts[i]};
}

static struct subject to_at(const struct check_input *input, uint32_t i)
{
    return (struct subject){cw_map_node(input->to, i), &input->to_facts[i]};
}

static const char *address_of(const struct cw_node *node)
{
    return node->address ? node->address : "";
}

/* ---- one server under two names ---------------------------------------------------------------
 */

static bool is_same_server(const struct subject *a, const struct subject *b)
{
    return a->facts->run_id[0] && strcmp(a->facts->run_id, b->facts->run_id) == 0;
}

static bool is_same_node(const struct subject *a, const struct subject *b)
{
    return strcmp(a->node->id, b->node->id) == 0 &&
           strcmp(address_of(a->node), address_of(b->node)) == 0;
}

static bool check_pair(struct subject a, struct subject b, char *ret_problem)
{
    if (!is_same_server(&a, &b) || is_same_node(&a, &b))
        return true;
    snprintf(ret_problem, MOVE_PROBLEM_SIZE,
             "node '%s' (%s) and node '%s' (%s) are one and the same server (run_id %.12s...); "
             "give each node a server of its own",
             a.node->id, address_of(a.node), b.node->id, address_of(b.node), a.facts->run_id);
    return false;
}

static bool check_servers(const struct check_input *input, char *ret_problem)
{
    uint32_t from_count = cw_map_node_count(input->from);
    uint32_t to_count = cw_map_node_count(input->to);
    for (uint32_t i = 0; i < to_count; i++) {
        for (uint32_t j = 0; j < i; j++)
            if (!check_pair(to_at(input, j), to_at(input, i), ret_problem))
                return false;
        for (uint32_t j = 0; j < from_count; j++)
            if (!check_pair(from_at(input, j), to_at(input, i), ret_problem))
                return false;
    }
    return true;
}

/* ---- who gives and who gets -------------------------------------------------------------------
 */

/* The number in `map` of the same node at the same address, or CW_NO_NODE. */
static uint32_t find_same(const struct cw_map *map, const struct cw_node *node)
{
    uint32_t number = cw_map_find_node(map, node->id);
    if (number != CW_NO_NODE && strcmp(address_of(cw_map_node(map, number)), address_of(node)) != 0)
        return CW_NO_NODE;
    return number;
}

static bool takes_keys(const struct check_input *input, uint32_t to_number)
{
    uint32_t same = find_same(input->from, cw_map_node(input->to, to_number));
    if (same == CW_NO_NODE || (input->bytes_in && input->bytes_in[to_number] > 0))
        return true;
    return cw_map_share(input->to, to_number) > cw_map_share(input->from, same);
}

static bool gives_keys(const struct check_input *input, uint32_t from_number)
{
    uint32_t same = find_same(input->to, cw_map_node(input->from, from_number));
    return same == CW_NO_NODE ||
           cw_map_share(input->to, same) < cw_map_share(input->from, from_number);
}

/* ---- one node ---------------------------------------------------------------------------------
 */

/* Redis before 7 has a version that is only a number. */
static bool is_too_old(const struct node_facts *facts)
{
    char *end;
    unsigned long major = strtoul(facts->version, &end, 10);
    return end != facts->version && *end == '.' && major < REDIS_MAJOR_MIN;
}

bool node_facts_has_field_times(const struct node_facts *facts)
{
    unsigned major = 0, minor = 0;
    if (sscanf(facts->version, "valkey %u", &major) == 1)
        return major >= 9;
    return sscanf(facts->version, "%u.%u", &major, &minor) == 2 &&
           (major > 7 || (major == 7 && minor >= 4));
}

static bool check_node(struct subject subject, char *ret_problem)
{
    const struct node_facts *facts = subject.facts;
    char version[64 + NODE_VERSION_SIZE];
    const char *reason = NULL;
    if (facts->is_cluster) {
        reason = "runs in cluster mode, which places keys itself; give a server outside of a "
                 "cluster";
    } else if (facts->is_replica) {
        reason = "is a replica; give the address of its primary, or make it one (REPLICAOF NO ONE)";
    } else if (facts->is_loading) {
        reason = "is still loading its data; try again when it has finished";
    } else if (is_too_old(facts)) {
        snprintf(version, sizeof version, "runs Redis %s; moving keys needs 7.0 or later",
                 facts->version);
        reason = version;
    } else if (facts->refusal[0]) {
        reason = facts->refusal;
    }
    if (reason)
        snprintf(ret_problem, MOVE_PROBLEM_SIZE, "node '%s' (%s) %s", subject.node->id,
                 address_of(subject.node), reason);
    return !reason;
}

static bool check_each(const struct check_input *input, char *ret_problem)
{
    for (uint32_t i = 0; i < cw_map_node_count(input->to); i++)
        if (takes_keys(input, i) && !check_node(to_at(input, i), ret_problem))
            return false;
    for (uint32_t i = 0; i < cw_map_node_count(input->from); i++)
        if (gives_keys(input, i) && !check_node(from_at(input, i), ret_problem))
            return false;
    return true;
}

/* ---- room -------------------------------------------------------------------------------------
 */

static const char *in_words(uint64_t bytes, char ret_text[static 32])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double number = (double)bytes;
    size_t unit = 0;
    for (; number >= 1024 && unit < 4; unit++)
        number /= 1024;
    snprintf(ret_text, 32, unit && number < 10 ? "%.1f %s" : "%.0f %s", number, units[unit]);
    return ret_text;
}

/* What a node gives away it keeps until the end of the transition: that is no room. */
static bool check_room(const struct check_input *input, uint32_t i, char *ret_problem)
{
    const struct subject target = to_at(input, i);
    const struct node_facts *facts = target.facts;
    uint64_t bytes_in = input->bytes_in[i];
    uint64_t room = facts->memory_max > facts->memory_used ? facts->memory_max - facts->memory_used
                                                           : 0;
    char comes[32], free[32], needed[32];
    if (facts->memory_max == 0 || bytes_in <= room)
        return true;
    in_words(bytes_in, comes);
    in_words(room, free);
    in_words(facts->memory_used + bytes_in, needed);
    if (facts->evicts)
        snprintf(ret_problem, MOVE_PROBLEM_SIZE,
                 "about %s come to node '%s' (%s), which has room for %s: it will evict other "
                 "keys; raise its maxmemory over %s to keep them",
                 comes, target.node->id, address_of(target.node), free, needed);
    else
        snprintf(ret_problem, MOVE_PROBLEM_SIZE,
                 "about %s come to node '%s' (%s), which has room for %s; raise its maxmemory over "
                 "%s, or give it less weight",
                 comes, target.node->id, address_of(target.node), free, needed);
    return facts->evicts;
}

static bool check_rooms(const struct check_input *input, char *ret_problem)
{
    for (uint32_t i = 0; input->bytes_in && i < cw_map_node_count(input->to); i++)
        if (!check_room(input, i, ret_problem))
            return false;
    return true;
}

/* ---- payloads ---------------------------------------------------------------------------------
 */

/* A server reads the payloads of older ones of its own line. Redis and Valkey share theirs up to
 * version 11; Valkey 9 stamps 80 and refuses Redis's later ones. */
static bool reads_payload(uint64_t reader, uint64_t writer)
{
    if (reader == 0 || writer == 0)
        return false;
    return writer == reader ||
           (writer < reader &&
            (reader < DUMP_VALKEY_9 || writer >= DUMP_VALKEY_9 || writer <= DUMP_LAST_SHARED));
}

static bool is_by_value(const struct check_input *input)
{
    for (uint32_t i = 0; i < cw_map_node_count(input->to); i++)
        for (uint32_t j = 0; takes_keys(input, i) && j < cw_map_node_count(input->from); j++)
            if (gives_keys(input, j) &&
                !reads_payload(input->to_facts[i].dump_version, input->from_facts[j].dump_version))
                return true;
    return false;
}

bool check_nodes(const struct check_input *input, bool *ret_by_value,
                 char ret_problem[static MOVE_PROBLEM_SIZE])
{
    ret_problem[0] = '\0';
    if (!check_servers(input, ret_problem) || !check_each(input, ret_problem) ||
        !check_rooms(input, ret_problem))
        return false;
    *ret_by_value = is_by_value(input);
    return true;
}
