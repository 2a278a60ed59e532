/*
 * What the text of a profile's map has more than others:
 *
 *   "placement": "profile",
 *   "profile": "twemproxy-ketama",
 *   "settings": ["hash=fnv1a_64", "tag={}"],
 *   "nodes": [
 *     {"id": "a", "address": "10.0.0.1:6379", "weight": 2, "place": 1, "name": "alpha"},
 *     {"id": "b", "address": "10.0.0.9:6379", "weight": 1, "place": 0, "server": "10.0.0.2:6379"}
 *   ]
 *
 * Settings stand in the order of their bits, the system's defaults included. "place" is the node's
 * in the system's order. "server" is how the system writes it, where that is not the address, and
 * "name", "number", "down" and "server_weight" are left out where they say nothing.
 */
#include "placement/error.h"
#include "placement/memory.h"
#include "placement/profile.h"
#include "placement/text.h"
#include "placement/text_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTING_MAX = 32 };

/* ---- writing --------------------------------------------------------------------------------- */

void text_put_profile(struct writer *writer, const struct cw_map *map)
{
    const struct profile_state *state = profile_of(map);
    struct cw_profile_options options;
    const char *separator = "";
    cw_profile_map_settings(state->map, &options);
    options.topology = state->topology;
    options.topology_len = state->topology_len;
    text_put(writer, "  \"profile\": \"%s\",\n  \"settings\": [",
             cw_profile_map_profile(state->map)->name);
    for (unsigned bit = 0; bit < SETTING_MAX; bit++) {
        char number[32], before[48];
        enum cw_profile_setting setting = (enum cw_profile_setting)(1u << bit);
        const char *value = cw_profile_options_get(&options, setting, number);
        if (!value)
            continue;
        snprintf(before, sizeof before, "%s=", cw_profile_setting_name(setting));
        text_put(writer, "%s", separator);
        text_put_escaped(writer, before, value, strlen(value));
        separator = ", ";
    }
    text_put(writer, "],\n");
}

void text_put_server(struct writer *writer, const struct cw_map *map, uint32_t index)
{
    const struct profile_state *state = profile_of(map);
    const struct cw_node *node = &map->nodes.list[index];
    const struct cw_profile_node *server = &state->servers[state->places[index]];
    text_put(writer, ", \"place\": %u", state->places[index]);
    if (strcmp(server->address, profile_default_server(node)) != 0) {
        text_put(writer, ", \"server\": ");
        text_put_escaped(writer, "", server->address, strlen(server->address));
    }
    if (*server->name) {
        text_put(writer, ", \"name\": ");
        text_put_escaped(writer, "", server->name, strlen(server->name));
    }
    if (server->number)
        text_put(writer, ", \"number\": %u", server->number);
    if (server->is_down)
        text_put(writer, ", \"down\": 1");
    if (server->weight != node->weight)
        text_put(writer, ", \"server_weight\": \"%.17g\"", server->weight);
}

/* ---- reading --------------------------------------------------------------------------------- */

int text_read_profile(struct json *json, void *target)
{
    struct raw_map *raw = target;
    struct json_string name;
    int status = json_read_string(json, &name);
    if (status != CW_OK)
        return status;
    raw->profile = cw_profile_find(name.text);
    if (!raw->profile)
        return json_fail(json, name.at, CW_EBAD_TEXT, "there is no profile '%.64s'", name.text);
    return CW_OK;
}

static int set(struct json *json, struct raw_map *raw, const struct json_string *setting)
{
    struct cw_error error;
    char *value = strchr(setting->text, '=');
    if (!value)
        return json_fail(json, setting->at, CW_EBAD_TEXT, "a setting is written like hash=md5");
    *value++ = 0;
    if (!*value)
        return json_fail(json, setting->at, CW_EBAD_TEXT, "setting '%.32s' is empty: leave it out",
                         setting->text);
    for (unsigned bit = 0; bit < SETTING_MAX; bit++) {
        char number[32];
        enum cw_profile_setting known = (enum cw_profile_setting)(1u << bit);
        const char *name = cw_profile_setting_name(known);
        if (name && strcmp(name, setting->text) == 0 &&
            cw_profile_options_get(&raw->settings, known, number))
            return json_fail(json, setting->at, CW_EBAD_KEY,
                             "setting '%s' stands here twice: remove one", name);
    }
    int status = cw_profile_options_set(&raw->settings, setting->text, value, &error);
    return status == CW_OK ? CW_OK : json_fail(json, setting->at, status, "%s", error.message);
}

int text_read_settings(struct json *json, void *target)
{
    int status = json_expect(json, '[');
    if (status == CW_OK && json_accept(json, ']'))
        return CW_OK;
    while (status == CW_OK) {
        struct json_string setting;
        status = json_read_string(json, &setting);
        if (status == CW_OK)
            status = text_unescape(json, &setting);
        if (status == CW_OK)
            status = set(json, target, &setting);
        if (status == CW_OK && !json_accept(json, ','))
            return json_expect(json, ']');
    }
    return status;
}

static int read_server(struct json *json, const struct raw_node *raw, struct cw_profile_node *ret)
{
    char *end = NULL;
    *ret = (struct cw_profile_node){.address = raw->server.text,
                                    .name = raw->name.text,
                                    .weight = (double)raw->weight,
                                    .number = (uint32_t)raw->number,
                                    .is_down = raw->down != 0};
    if (!raw->server_weight.text)
        return CW_OK;
    ret->weight = strtod(raw->server_weight.text, &end);
    if (*end || end == raw->server_weight.text || !(ret->weight >= 0 && ret->weight <= 1e9))
        return json_fail(json, raw->server_weight.at, CW_EBAD_TEXT,
                         "'%.32s' is no weight: use a number from 0 to 1000000000",
                         raw->server_weight.text);
    return CW_OK;
}

/* The raw node at every place of the system's order. */
static int order_nodes(struct json *json, struct raw_map *raw, uint32_t *at_place)
{
    for (size_t i = 0; i < raw->node_count; i++) {
        const struct raw_node *node = &raw->nodes[i];
        if (node->place >= raw->node_count)
            return json_fail(json, node->at, CW_EBAD_TEXT,
                             "node '%.64s' has place %llu: places count from 0 to the number of "
                             "nodes less one",
                             node->id.text, (unsigned long long)node->place);
        if (at_place[node->place])
            return json_fail(json, node->at, CW_EBAD_TEXT,
                             "nodes '%.64s' and '%.64s' have the same place %llu",
                             raw->nodes[at_place[node->place] - 1].id.text, node->id.text,
                             (unsigned long long)node->place);
        at_place[node->place] = (uint32_t)i + 1;
    }
    return CW_OK;
}

int text_order_servers(struct json *json, struct raw_map *raw)
{
    struct raw_node *sorted = memory_alloc(raw->node_count, sizeof *sorted);
    uint32_t *at_place = memory_alloc(raw->node_count, sizeof *at_place);
    struct cw_profile_node *servers = memory_alloc(raw->node_count, sizeof *servers);
    int status = sorted && at_place && servers ? order_nodes(json, raw, at_place)
                                               : error_no_memory(json->error);
    for (size_t i = 0; status == CW_OK && i < raw->node_count; i++)
        sorted[i] = raw->nodes[at_place[i] - 1];
    for (size_t i = 0; status == CW_OK && i < raw->node_count; i++)
        status = read_server(json, &sorted[i], &servers[i]);
    free(at_place);
    if (status != CW_OK) {
        free(sorted);
        free(servers);
        return status;
    }
    free(raw->nodes);
    raw->nodes = sorted;
    raw->servers = servers;
    raw->settings.nodes = servers;
    raw->settings.node_count = raw->node_count;
    return CW_OK;
}
