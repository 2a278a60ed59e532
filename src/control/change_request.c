#include "control/change_request.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "move/map_store.h"

bool change_refuse(struct change_problem *problem, int status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    problem->status = status;
    vsnprintf(problem->text, sizeof problem->text, format, args);
    va_end(args);
    return false;
}

/* ---- one value ------------------------------------------------------------------------------- */

/* A key of a JSON object: what it is, and where it goes. */
enum value_type { VALUE_TEXT, VALUE_NUMBER, VALUE_COUNT, VALUE_FLAG, VALUE_WEIGHT, VALUE_OTHER };

typedef bool (*value_reader)(const json_t *value, void *target, struct change_problem *problem);

struct key {
    const char *name;
    enum value_type type;
    size_t offset;       /* in the struct that is filled */
    value_reader reader; /* of VALUE_OTHER: gets the whole struct */
};

static bool read_number(const char *name, const json_t *value, json_int_t max, uint64_t *ret_number,
                        struct change_problem *problem)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 || json_integer_value(value) > max)
        return change_refuse(problem, -EINVAL, "'%s' is no whole number from 0 to %lld; give one",
                             name, (long long)max);
    *ret_number = (uint64_t)json_integer_value(value);
    return true;
}

static bool read_weight(const json_t *value, uint32_t *ret_weight, struct change_problem *problem)
{
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        json_integer_value(value) > (json_int_t)CW_WEIGHT_MAX)
        return change_refuse(problem, -EINVAL,
                             "a weight is a whole number from 1 to %u; to take a node out of the "
                             "pool, drain it",
                             CW_WEIGHT_MAX);
    *ret_weight = (uint32_t)json_integer_value(value);
    return true;
}

static bool read_value(const struct key *key, const json_t *value, void *target,
                       struct change_problem *problem)
{
    void *at = (char *)target + key->offset;
    switch (key->type) {
    case VALUE_TEXT:
        if (!json_is_string(value))
            return change_refuse(problem, -EINVAL, "'%s' is no text; put it in quotes", key->name);
        *(const char **)at = json_string_value(value);
        return true;
    case VALUE_NUMBER: return read_number(key->name, value, INT64_MAX, at, problem);
    case VALUE_COUNT: return read_number(key->name, value, UINT32_MAX, at, problem);
    case VALUE_FLAG:
        if (!json_is_boolean(value))
            return change_refuse(problem, -EINVAL, "'%s' is neither true nor false; say which",
                                 key->name);
        *(bool *)at = json_is_true(value);
        return true;
    case VALUE_WEIGHT: return read_weight(value, at, problem);
    case VALUE_OTHER: break;
    }
    return key->reader(value, target, problem);
}

/* ---- objects --------------------------------------------------------------------------------- */

enum { KEYS_MAX = 32 };

static bool unknown_key(const struct key *keys, size_t count, const char *name, const char *what,
                        struct change_problem *problem)
{
    const char *names[KEYS_MAX];
    for (size_t i = 0; i < count; i++)
        names[i] = keys[i].name;
    const char *nearest = suggest_nearest(name, names, count);
    if (nearest)
        return change_refuse(problem, -EINVAL, "%s has an unknown key '%.63s'; did you mean '%s'?",
                             what, name, nearest);
    return change_refuse(problem, -EINVAL, "%s has an unknown key '%.63s'; leave it out", what,
                         name);
}

static bool read_object(const struct key *keys, size_t count, const json_t *object,
                        const char *what, void *target, struct change_problem *problem)
{
    const char *name;
    json_t *value;
    if (!json_is_object(object))
        return change_refuse(problem, -EINVAL, "%s is no JSON object; write {…}", what);
    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        size_t i = 0;
        while (i < count && strcmp(keys[i].name, name) != 0)
            i++;
        if (i == count)
            return unknown_key(keys, count, name, what, problem);
        if (!read_value(&keys[i], value, target, problem))
            return false;
    }
    return true;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static const struct key node_keys[] = {
    {"id", VALUE_TEXT, offsetof(struct cw_node, id), NULL},
    {"address", VALUE_TEXT, offsetof(struct cw_node, address), NULL},
    {"zone", VALUE_TEXT, offsetof(struct cw_node, zone), NULL},
    {"weight", VALUE_WEIGHT, offsetof(struct cw_node, weight), NULL},
};

static bool read_node(const json_t *value, struct cw_node *node, struct change_problem *problem)
{
    if (!read_object(node_keys, sizeof node_keys / sizeof *node_keys, value, "a node", node,
                     problem))
        return false;
    if (!node->id || !*node->id)
        return change_refuse(problem, -EINVAL, "a node has no id; every node needs one");
    return true;
}

/* An empty list is a list: it asks for no nodes at all. */
static bool check_list(const json_t *value, const char *name, struct change_problem *problem)
{
    if (!json_is_array(value))
        return change_refuse(problem, -EINVAL, "'%s' is no list; write [ … ]", name);
    if (json_array_size(value) > TRANSITION_NODES_MAX)
        return change_refuse(problem, -EINVAL,
                             "'%s' has more than %d nodes; use fewer, larger ones", name,
                             (int)TRANSITION_NODES_MAX);
    return true;
}

static bool read_node_list(const json_t *value, const char *name, struct change_nodes *ret_nodes,
                           struct change_problem *problem)
{
    if (!check_list(value, name, problem))
        return false;
    size_t count = json_array_size(value);
    ret_nodes->nodes = calloc(count + 1, sizeof *ret_nodes->nodes);
    if (!ret_nodes->nodes)
        return change_refuse(problem, -ENOMEM, "out of memory");
    for (; ret_nodes->count < count; ret_nodes->count++)
        if (!read_node(json_array_get(value, ret_nodes->count), &ret_nodes->nodes[ret_nodes->count],
                       problem))
            return false;
    return true;
}

static bool read_nodes(const json_t *value, void *target, struct change_problem *problem)
{
    struct change_request *request = target;
    request->has_nodes = true;
    return read_node_list(value, "nodes", &request->nodes, problem);
}

static bool read_add(const json_t *value, void *target, struct change_problem *problem)
{
    return read_node_list(value, "add", &((struct change_request *)target)->add, problem);
}

static bool read_weigh(const json_t *value, void *target, struct change_problem *problem)
{
    struct change_nodes *weigh = &((struct change_request *)target)->weigh;
    if (!read_node_list(value, "weight", weigh, problem))
        return false;
    for (size_t i = 0; i < weigh->count; i++)
        if (!weigh->nodes[i].weight || weigh->nodes[i].address || weigh->nodes[i].zone)
            return change_refuse(problem, -EINVAL,
                                 "'weight' needs an id and a weight for '%.63s'; give these two",
                                 weigh->nodes[i].id);
    return true;
}

static bool read_drain(const json_t *value, void *target, struct change_problem *problem)
{
    struct change_request *request = target;
    if (!check_list(value, "drain", problem))
        return false;
    size_t count = json_array_size(value);
    request->drain = calloc(count + 1, sizeof *request->drain);
    if (!request->drain)
        return change_refuse(problem, -ENOMEM, "out of memory");
    for (; request->drain_count < count; request->drain_count++) {
        const char *id = json_string_value(json_array_get(value, request->drain_count));
        if (!id)
            return change_refuse(problem, -EINVAL, "'drain' is no list of ids; write [\"id\"]");
        request->drain[request->drain_count] = id;
    }
    return true;
}

static bool read_replace(const json_t *value, void *target, struct change_problem *problem)
{
    struct cw_node *replace = &((struct change_request *)target)->replace;
    if (!read_node(value, replace, problem))
        return false;
    if (!replace->address || replace->weight || replace->zone)
        return change_refuse(problem, -EINVAL,
                             "'replace' needs an id and the new address; give these two");
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static const struct key throttle_keys[] = {
    {"keys_per_second", VALUE_NUMBER, offsetof(struct throttle_settings, keys_per_second), NULL},
    {"bytes_per_second", VALUE_NUMBER, offsetof(struct throttle_settings, bytes_per_second), NULL},
    {"automatic", VALUE_FLAG, offsetof(struct throttle_settings, is_automatic), NULL},
};

static bool read_throttle(const json_t *value, struct throttle_settings *settings,
                          struct change_problem *problem)
{
    *settings = (struct throttle_settings){.is_automatic = true};
    return read_object(throttle_keys, sizeof throttle_keys / sizeof *throttle_keys, value,
                       "'throttle'", settings, problem);
}

static bool read_throttle_of(const json_t *value, void *target, struct change_problem *problem)
{
    return read_throttle(value, &((struct change_request *)target)->throttle, problem);
}

static const struct key request_keys[] = {
    {"nodes", VALUE_OTHER, 0, read_nodes},
    {"add", VALUE_OTHER, 0, read_add},
    {"drain", VALUE_OTHER, 0, read_drain},
    {"weight", VALUE_OTHER, 0, read_weigh},
    {"replace", VALUE_OTHER, 0, read_replace},
    {"dead", VALUE_TEXT, offsetof(struct change_request, dead), NULL},
    {"placement", VALUE_TEXT, offsetof(struct change_request, placement), NULL},
    {"engine", VALUE_TEXT, offsetof(struct change_request, engine), NULL},
    {"slots", VALUE_COUNT, offsetof(struct change_request, slots), NULL},
    {"tokens", VALUE_COUNT, offsetof(struct change_request, tokens), NULL},
    {"generation", VALUE_NUMBER, offsetof(struct change_request, generation), NULL},
    {"deep", VALUE_FLAG, offsetof(struct change_request, is_deep), NULL},
    {"purge", VALUE_FLAG, offsetof(struct change_request, may_purge), NULL},
    {"no_copy", VALUE_FLAG, offsetof(struct change_request, no_copy), NULL},
    {"throttle", VALUE_OTHER, 0, read_throttle_of},
    {"who", VALUE_TEXT, offsetof(struct change_request, who), NULL},
};

_Static_assert(sizeof request_keys / sizeof *request_keys <= KEYS_MAX, "unknown_key()'s bound");

static json_t *parse(const char *text, size_t len, struct change_problem *problem)
{
    json_error_t error;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        change_refuse(problem, -EINVAL, "the question is no JSON: line %d, column %d: %s; send %s",
                      error.line, error.column, error.text, "a JSON object");
    return root;
}

/* Exactly one of: all nodes; changes of nodes; replace; dead. A placement may come alone. */
static bool check_kinds(const struct change_request *request, struct change_problem *problem)
{
    bool has_changes = request->add.nodes || request->drain || request->weigh.nodes;
    int kinds = request->has_nodes + has_changes + (request->replace.id != NULL) +
                (request->dead != NULL);
    if (kinds > 1)
        return change_refuse(problem, -EINVAL,
                             "'nodes', 'replace', 'dead' and changes ('add', 'drain', 'weight') "
                             "exclude each other; ask for one after the other");
    if (kinds == 0 && !request->placement)
        return change_refuse(problem, -EINVAL,
                             "nothing is asked for; give 'nodes', 'add', 'drain', 'weight', "
                             "'replace', 'dead' or 'placement'");
    if (request->placement && (request->replace.id || request->dead))
        return change_refuse(problem, -EINVAL,
                             "'placement' does not go with 'replace' or 'dead'; change it after");
    if (request->no_copy && !request->replace.id)
        return change_refuse(problem, -EINVAL, "'no_copy' is for 'replace' alone; leave it out");
    return true;
}

bool change_request_parse(const char *text, size_t len, struct change_request *ret_request,
                          struct change_problem *ret_problem)
{
    struct change_request request = {.throttle.is_automatic = true};
    request.root = parse(text, len, ret_problem);
    if (!request.root)
        return false;
    if (!read_object(request_keys, sizeof request_keys / sizeof *request_keys, request.root,
                     "the question", &request, ret_problem) ||
        !check_kinds(&request, ret_problem)) {
        change_request_release(&request);
        return false;
    }
    *ret_request = request;
    return true;
}

bool change_throttle_parse(const char *text, size_t len, struct throttle_settings *ret_settings,
                           struct change_problem *ret_problem)
{
    json_t *root = parse(text, len, ret_problem);
    bool ok = root && read_throttle(root, ret_settings, ret_problem);
    json_decref(root);
    return ok;
}

void change_request_release(struct change_request *request)
{
    free(request->nodes.nodes);
    free(request->add.nodes);
    free(request->weigh.nodes);
    free(request->drain);
    json_decref(request->root);
    *request = (struct change_request){0};
}
