/*
 * What a map is made of, taken over from its options: addresses cut into host and port as the
 * system cuts them, the names that it hashes, its order of servers, and what it makes of weights.
 */
#include "profiles/profile.h"

#include "placement/error.h"
#include "placement/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROFILE_TEXT_LEN_MAX 4096u /* of one address, name or setting */

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* ---- strings --------------------------------------------------------------------------------- */

/* An arena: room is counted before it is filled. */
static char *put(char **at, const char *text, size_t len)
{
    char *to = *at;
    memcpy(to, text, len);
    to[len] = 0;
    *at += len + 1;
    return to;
}

static const char *put_text(char **at, const char *text)
{
    return put(at, text, strlen(text));
}

/* The name is at most "host/host:port", with a default port where none is written. */
static size_t node_room(const struct cw_profile_node *node)
{
    return 5 * strlen(or_empty(node->address)) + 2 * strlen(or_empty(node->name)) + 64;
}

static size_t settings_room(const struct cw_profile_options *options)
{
    return strlen(or_empty(options->hash)) + strlen(or_empty(options->tag)) +
           strlen(or_empty(options->stop)) + strlen(or_empty(options->salt)) +
           strlen(or_empty(options->server_key)) + strlen(or_empty(options->replication)) + 64;
}

/* ---- addresses ------------------------------------------------------------------------------- */

static int is_digits(const char *text)
{
    return *text && strspn(text, "0123456789") == strlen(text);
}

static int is_socket(const char *address)
{
    return address[0] == '/' || strncmp(address, "unix:", 5) == 0;
}

/* Where the port starts, behind the last colon; NULL when there is none. */
static const char *find_port(const char *address)
{
    const char *colon = strrchr(address, ':');
    return colon && is_digits(colon + 1) ? colon + 1 : NULL;
}

static void split_literal(struct profile_node *node, const char *address, char **at)
{
    const char *port = is_socket(address) ? NULL : find_port(address);
    if (strncmp(address, "unix:", 5) == 0)
        address += 5;
    node->port = put_text(at, or_empty(port));
    node->host = put(at, address, port ? (size_t)(port - 1 - address) : strlen(address));
}

/* carbon's host:port:instance, host:instance or host:port; the instance stands in for the port. */
static void split_instance(struct profile_node *node, const char *address, char **at)
{
    const char *first = strchr(address, ':'), *last = strrchr(address, ':');
    int has_instance = last && (last != first || !is_digits(last + 1));
    node->host = put(at, address, first ? (size_t)(first - address) : strlen(address));
    node->port = put_text(at, has_instance ? last + 1 : "None");
}

static int bad_address(const char *address, const char *why, struct cw_error *error)
{
    return error_set(error, CW_EBAD_ADDRESS, "server '%.64s': %s", address, why);
}

/* [::1]:11211, [::1], 10.0.0.1:11211, cache1 or a socket. */
static int split(struct profile_node *node, const char *address, char **at, struct cw_error *error)
{
    const char *close = address[0] == '[' ? strchr(address, ']') : NULL;
    const char *rest = close ? close + 1 : strchr(address, ':');
    if (is_socket(address)) {
        split_literal(node, address, at);
        return CW_OK;
    }
    if (address[0] == '[' && !close)
        return bad_address(address, "a [ without its ]", error);
    if (rest && *rest && (*rest != ':' || !is_digits(rest + 1)))
        return bad_address(address, "write host:port, and IPv6 as [::1]:11211", error);
    node->port = put_text(at, rest && *rest ? rest + 1 : "");
    if (close)
        node->host = put(at, address + 1, (size_t)(close - address - 1));
    else
        node->host = put(at, address, rest ? (size_t)(rest - address) : strlen(address));
    return CW_OK;
}

static int is_ipv4(const char *host)
{
    unsigned dots = 0;
    for (const char *at = host; *at; at++) {
        dots += *at == '.';
        if (*at != '.' && (*at < '0' || *at > '9'))
            return 0;
    }
    return dots == 3;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Up to four texts in a row. */
static const char *join(char **at, const char *a, const char *b, const char *c, const char *d)
{
    char *to = *at;
    const char *parts[4] = {a, b, c, d};
    for (unsigned i = 0; i < 4; i++) {
        memcpy(*at, parts[i], strlen(parts[i]));
        *at += strlen(parts[i]);
    }
    *(*at)++ = 0;
    return to;
}

static const char *make_name(const struct profile *profile, const struct profile_node *node,
                             const char *address, char **at)
{
    const char *host = node->host, *port = node->port;
    switch (profile->naming) {
    case NAMING_GIVEN: break;
    case NAMING_HOST_PORT: return join(at, host, ":", port, "");
    case NAMING_DROP_11211:
        return strcmp(port, "11211") == 0 ? host : join(at, host, ":", port, "");
    case NAMING_SLASH: return join(at, "/", host, ":", port);
    case NAMING_CARBON: {
        int none = strcmp(port, "None") == 0;
        const char *start = join(at, "('", host, none ? "', " : "', '", port);
        (*at)--;
        join(at, none ? ")" : "')", "", "", "");
        return start;
    }
    case NAMING_INSTANCE: return port;
    case NAMING_TWICE: return join(at, host, "/", join(at, host, ":", port, ""), "");
    }
    return address;
}

static int cut_address(const struct profile *profile, const struct cw_profile_node *given,
                       struct profile_node *node, char **at, struct cw_error *error)
{
    const char *address = given->address;
    if (is_socket(address) && !profile->socket_port)
        return bad_address(address, "this system has no unix sockets: use host:port", error);
    int has_instance = profile->naming == NAMING_CARBON || profile->naming == NAMING_INSTANCE;
    if (has_instance && address[0] == '[')
        return bad_address(address, "what this system makes of IPv6 is not known: use a name",
                           error);
    if (has_instance)
        split_instance(node, address, at);
    else if (profile->literal_address)
        split_literal(node, address, at);
    else if (split(node, address, at, error) != CW_OK)
        return CW_EBAD_ADDRESS;
    if (is_socket(address))
        node->port = profile->socket_port;
    if (!*node->port && !is_socket(address)) {
        if (!profile->port)
            return bad_address(address, "it has no port: write host:port", error);
        node->port = profile->port;
    }
    if (profile->java_address && !is_ipv4(node->host))
        return bad_address(address,
                           "what Java makes of a name or of IPv6 cannot be seen from it: "
                           "give the server the name host/ip:port",
                           error);
    return CW_OK;
}

static int take_name(const struct profile *profile, const struct cw_profile_node *given,
                     struct profile_node *node, char **at, struct cw_error *error)
{
    const char *name = or_empty(given->name);
    node->host = node->port = "";
    if (profile->naming != NAMING_GIVEN && !(*name && profile->java_address)) {
        int status = cut_address(profile, given, node, at, error);
        if (status != CW_OK)
            return status;
    }
    node->name = *name ? put_text(at, name) : make_name(profile, node, given->address, at);
    return CW_OK;
}

/* ---- weights --------------------------------------------------------------------------------- */

static int is_whole(double weight)
{
    return weight >= 0 && weight <= CW_WEIGHT_MAX && weight == (double)(uint32_t)weight;
}

static int bad_weight(const struct cw_profile_node *given, const char *use, struct cw_error *error)
{
    return error_set(error, CW_EBAD_WEIGHT, "server '%.64s' has weight %g: use %s", given->address,
                     given->weight, use);
}

static int take_weight(const struct profile *profile, const struct cw_profile_node *given,
                       struct profile_node *node, struct cw_error *error)
{
    double weight = given->weight;
    node->weight = weight;
    if (!(weight >= 0)) /* also what is no number */
        return bad_weight(given,
                          profile->weights == WEIGHTS_IGNORED ? "1: this system has no weights"
                                                              : "a positive number",
                          error);
    switch (profile->weights) {
    case WEIGHTS_IGNORED: node->weight = 1; return CW_OK;
    case WEIGHTS_WHOLE:
        if (is_whole(weight) && weight >= 1)
            return CW_OK;
        return bad_weight(given, "a whole number from 1 to 1000000", error);
    case WEIGHTS_WHOLE_OR_ONE:
        if (weight == 0)
            node->weight = 1;
        return is_whole(weight) ? CW_OK : bad_weight(given, "a whole number", error);
    case WEIGHTS_WHOLE_OR_OUT:
        if (is_whole(weight) && weight <= 256)
            return CW_OK;
        return bad_weight(given, "a whole number from 0 to 256", error);
    case WEIGHTS_REAL:
        if (weight > 0 && weight <= CW_WEIGHT_MAX)
            return CW_OK;
        return bad_weight(given, "a number above 0, at most 1000000", error);
    case WEIGHTS_PART:
        if (weight >= 0 && weight <= 1)
            return CW_OK;
        return bad_weight(given, "a number from 0 to 1", error);
    }
    return CW_OK;
}

double profile_weight_sum(const struct cw_profile_map *map)
{
    double sum = 0;
    for (uint32_t i = 0; i < map->node_count; i++)
        sum += map->nodes[i].weight;
    return sum;
}

/* ---- numbers: HAProxy's ids ------------------------------------------------------------------ */

static int by_value(const void *one, const void *other)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    return (a > b) - (a < b);
}

/* The configured ids in ascending order; 0 of them if none is. */
static uint32_t sorted_ids(const struct cw_profile_map *map, uint32_t *ret_ids)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < map->node_count; i++)
        if (map->given[i].number)
            ret_ids[count++] = map->given[i].number;
    qsort(ret_ids, count, sizeof *ret_ids, by_value);
    return count;
}

/* Configured ids stand; the others count up from the position, over those that are taken. */
static void number_rest(struct cw_profile_map *map, const uint32_t *ids, uint32_t count)
{
    uint32_t next = 1, at = 0;
    for (uint32_t i = 0; i < map->node_count; i++, next++) {
        map->nodes[i].id = map->given[i].number;
        if (map->nodes[i].id)
            continue;
        for (; at < count && ids[at] <= next; at++)
            next += ids[at] == next;
        map->nodes[i].id = next;
    }
}

static int number_nodes(struct cw_profile_map *map, struct cw_error *error)
{
    uint32_t *ids = memory_alloc(map->node_count, sizeof *ids);
    if (!ids)
        return error_no_memory(error);
    uint32_t count = sorted_ids(map, ids), twice = 0;
    for (uint32_t i = 1; i < count; i++)
        if (ids[i] == ids[i - 1])
            twice = ids[i];
    number_rest(map, ids, count);
    free(ids);
    if (twice)
        return error_set(error, CW_EDUPLICATE_ID,
                         "two servers have the number %u: give each its own", twice);
    return CW_OK;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int by_number(const struct profile_node *a, const struct profile_node *b)
{
    return (a->number > b->number) - (a->number < b->number);
}

static int by_name(const void *one, const void *other)
{
    const struct profile_node *a = one, *b = other;
    int order = strcmp(a->name, b->name);
    return order ? order : by_number(a, b);
}

static int by_length_and_name(const void *one, const void *other)
{
    const struct profile_node *a = one, *b = other;
    size_t a_len = strlen(a->name), b_len = strlen(b->name);
    if (a_len != b_len)
        return a_len < b_len ? -1 : 1;
    return by_name(one, other);
}

static int sort_nodes(struct cw_profile_map *map, struct cw_error *error)
{
    const struct profile *profile = map->profile;
    struct profile_node *nodes = map->nodes;
    if (profile->order == ORDER_GIVEN)
        return CW_OK;
    qsort(nodes, map->node_count, sizeof *nodes,
          profile->order == ORDER_NAME ? by_name : by_length_and_name);
    for (uint32_t i = 1; profile->names_unique && i < map->node_count; i++)
        if (strcmp(nodes[i].name, nodes[i - 1].name) == 0)
            return error_set(error, CW_EDUPLICATE_ID,
                             "two servers have the name '%.64s', which %s refuses: give each its "
                             "own",
                             nodes[i].name, profile->shown.family);
    return CW_OK;
}

/* ---- all ------------------------------------------------------------------------------------- */

static int check_text(const char *text, const char *what, struct cw_error *error)
{
    if (text && strnlen(text, PROFILE_TEXT_LEN_MAX + 1) > PROFILE_TEXT_LEN_MAX)
        return error_set(error, CW_EINVAL, "a %s is longer than %u bytes", what,
                         PROFILE_TEXT_LEN_MAX);
    return CW_OK;
}

/* Counts the room for all strings on the way. */
static int check_given(struct cw_profile_map *map, const struct cw_profile_options *options,
                       struct cw_error *error)
{
    size_t count = options->node_count;
    map->text_size = settings_room(options);
    if (count && !options->nodes)
        return error_set(error, CW_EINVAL, "%zu servers are promised and none is given", count);
    if (count > CW_NODE_COUNT_MAX)
        return error_set(error, CW_ETOO_MANY_NODES, "%zu servers: a map has at most %u", count,
                         CW_NODE_COUNT_MAX);
    for (size_t i = 0; i < count; i++) {
        const struct cw_profile_node *node = &options->nodes[i];
        if (check_text(node->address, "server's address", error) != CW_OK ||
            check_text(node->name, "server's name", error) != CW_OK)
            return CW_EINVAL;
        if (!*or_empty(node->address))
            return error_set(error, CW_EBAD_ADDRESS, "server %zu has no address", i + 1);
        map->text_size += node_room(node);
    }
    return CW_OK;
}

static int check_down(const struct profile *profile, const struct cw_profile_node *given,
                      struct cw_error *error)
{
    if (given->is_down && !profile->skip_down_max && !profile->leaves_down_out)
        return error_set(error, CW_EINVAL,
                         "server '%.64s' is marked as down, which %s does not know: leave it out",
                         given->address, profile->shown.name);
    return CW_OK;
}

static int copy_nodes(struct cw_profile_map *map, const struct cw_profile_options *options,
                      char **at, struct cw_error *error)
{
    for (uint32_t i = 0; i < map->node_count; i++) {
        struct cw_profile_node *given = &map->given[i];
        struct profile_node *node = &map->nodes[i];
        *given = options->nodes[i];
        given->address = put_text(at, given->address);
        given->name = put_text(at, or_empty(given->name));
        node->number = i;
        node->is_down = given->is_down;
        int status = check_down(map->profile, given, error);
        if (status == CW_OK)
            status = take_name(map->profile, given, node, at, error);
        if (status == CW_OK)
            status = take_weight(map->profile, given, node, error);
        if (status != CW_OK)
            return status;
    }
    return CW_OK;
}

static void copy_settings(struct cw_profile_map *map, const struct cw_profile_options *options,
                          char **at)
{
    struct cw_profile_options *to = &map->options;
    *to = *options;
    to->hash = put_text(at, or_empty(options->hash));
    to->tag = put_text(at, or_empty(options->tag));
    to->stop = put_text(at, or_empty(options->stop));
    to->salt = put_text(at, or_empty(options->salt));
    to->server_key = put_text(at, or_empty(options->server_key));
    to->replication = put_text(at, or_empty(options->replication));
    to->topology = NULL; /* read while building, never after */
    to->nodes = map->given;
}

int profile_nodes_init(struct cw_profile_map *map, const struct cw_profile_options *options,
                       struct cw_error *error)
{
    int status = check_given(map, options, error);
    if (status != CW_OK)
        return status;
    map->given = memory_alloc(options->node_count, sizeof *map->given);
    map->nodes = memory_alloc(options->node_count, sizeof *map->nodes);
    map->text = memory_alloc(map->text_size, 1);
    if (!map->given || !map->nodes || !map->text)
        return error_no_memory(error);
    char *at = map->text;
    map->node_count = map->owner_count = (uint32_t)options->node_count;
    copy_settings(map, options, &at);
    status = copy_nodes(map, options, &at, error);
    if (status == CW_OK)
        status = number_nodes(map, error);
    return status == CW_OK ? sort_nodes(map, error) : status;
}

void profile_nodes_fini(struct cw_profile_map *map)
{
    free(map->given);
    free(map->nodes);
    free(map->text);
}
