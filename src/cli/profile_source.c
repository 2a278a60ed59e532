#include "cli/profile_source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"

enum { TOPOLOGY_LEN_MAX = 64 << 20 };

/* What the options say. */
struct fleet {
    const struct cli_args *args;
    const struct cw_profile *profile;
    struct cw_profile_options options;
    struct cw_node *nodes;
    struct cw_profile_node *servers;
    size_t count, room;
    char **texts; /* copies that are cut up */
    size_t text_count;
};

bool profile_source_is_asked_for(const struct cli_args *args)
{
    return cli_has(args, "profile") || cli_has(args, "set") || cli_has(args, "node");
}

/* ---- the profile and its settings ------------------------------------------------------------ */

static char *copy(struct fleet *fleet, const char *text)
{
    char *kept = strdup(text);
    if (kept)
        fleet->texts[fleet->text_count++] = kept;
    return kept;
}

/* A whole file; the memory is the fleet's. */
static int read_file(struct fleet *fleet, const char *path, const char **ret_text)
{
    FILE *file = fopen(path, "rbe");
    char *text = NULL;
    size_t len = 0, room = 0;
    if (!file)
        return cli_fail("%s: %s", path, strerror(errno));
    for (size_t got = 1; got > 0 && len <= TOPOLOGY_LEN_MAX; len += got) {
        if (len + 4096 > room) {
            char *grown = realloc(text, room = room * 2 + 65536);
            if (!grown)
                break;
            text = grown;
        }
        got = fread(text + len, 1, room - len - 1, file);
    }
    int failed = ferror(file) || !feof(file);
    fclose(file);
    if (text)
        fleet->texts[fleet->text_count++] = text;
    if (!text || failed)
        return cli_fail("%s: cannot be read, or is larger than 64mb", path);
    text[len] = 0;
    *ret_text = text;
    return CLI_OK;
}

static int unknown_setting(const struct fleet *fleet, const char *name)
{
    const char *names[32];
    char list[256] = "";
    size_t count = 0, len = 0;
    for (uint32_t left = fleet->profile->settings; left; left &= left - 1) {
        names[count] = cw_profile_setting_name(left & -left);
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%s", count ? ", " : "",
                                names[count]);
        count++;
    }
    const char *nearest = suggest_nearest(name, names, count);
    if (nearest)
        return cli_usage(fleet->args->command, "%s has no setting '%s'; did you mean '%s'?",
                         fleet->profile->name, name, nearest);
    return cli_usage(fleet->args->command, "%s has no setting '%s'; it has %s",
                     fleet->profile->name, name, count ? list : "none");
}

static bool has_setting(const struct cw_profile *profile, const char *name)
{
    for (uint32_t left = profile->settings; left; left &= left - 1)
        if (strcmp(cw_profile_setting_name(left & -left), name) == 0)
            return true;
    return false;
}

static int set(struct fleet *fleet, const char *text)
{
    struct cw_error error = {0};
    char *name = copy(fleet, text);
    if (!name)
        return cli_fail("out of memory");
    char *equals = strchr(name, '=');
    const char *value = equals ? equals + 1 : NULL;
    if (!value)
        return cli_usage(fleet->args->command, "--set %s: write --set KEY=VALUE", text);
    *equals = 0;
    if (!has_setting(fleet->profile, name))
        return unknown_setting(fleet, name);
    if (strcmp(name, "topology") == 0 && *value == '@') {
        int status = read_file(fleet, value + 1, &value);
        if (status != CLI_OK)
            return status;
    }
    if (cw_profile_options_set(&fleet->options, name, value, &error) != CW_OK)
        return cli_usage(fleet->args->command, "--set %s: %s", text, error.message);
    return CLI_OK;
}

/* ---- servers --------------------------------------------------------------------------------- */

static int read_property(const struct cli_command *command, const char *text,
                         struct cw_profile_node *server)
{
    char *end;
    if (strncmp(text, "number=", 7) == 0) {
        unsigned long number = strtoul(text + 7, &end, 10);
        if (*end || text[7] < '1' || text[7] > '9' || number > UINT32_MAX)
            return cli_usage(command, "number '%s': use a whole number from 1 to %u", text + 7,
                             UINT32_MAX);
        server->number = (uint32_t)number;
    } else if (strcmp(text, "down") == 0) {
        server->is_down = 1;
    } else {
        server->name = strncmp(text, "name=", 5) == 0 ? text + 5 : text;
    }
    return CLI_OK;
}

static int read_weight(const struct cli_command *command, const char *text, double *ret_weight)
{
    char *end;
    *ret_weight = strtod(text, &end);
    if (text[0] < '0' || text[0] > '9' || *end || !(*ret_weight <= CW_WEIGHT_MAX))
        return cli_usage(command, "weight '%s': use a number from 0 to %u", text, CW_WEIGHT_MAX);
    return CLI_OK;
}

int profile_source_server(const struct cli_command *command, char *text, struct cw_node *ret_node,
                          struct cw_profile_node *ret_server)
{
    struct cw_profile_node server = {.weight = 1};
    char *rest = text, *weight = strsep(&rest, ",");
    server.address = strsep(&weight, "=");
    int status = weight ? read_weight(command, weight, &server.weight) : CLI_OK;
    for (char *property; status == CLI_OK && (property = strsep(&rest, ","));)
        status = read_property(command, property, &server);
    double whole = server.weight;
    *ret_server = server;
    *ret_node = (struct cw_node){
        .id = server.name ? server.name : server.address,
        .address = server.address,
        .weight = whole >= 1 && whole == (double)(uint32_t)whole ? (uint32_t)whole : 1};
    return status;
}

static int add_server(struct fleet *fleet, const char *text)
{
    char *cut = copy(fleet, text);
    if (!cut)
        return cli_fail("out of memory");
    int status = profile_source_server(fleet->args->command, cut, &fleet->nodes[fleet->count],
                                       &fleet->servers[fleet->count]);
    fleet->count++;
    return status;
}

/* ---- the map --------------------------------------------------------------------------------- */

static int read_options(struct fleet *fleet)
{
    int status = CLI_OK;
    for (size_t i = 0; i < fleet->args->given_count && status == CLI_OK; i++) {
        const char *name = fleet->args->given[i].option->name, *value = fleet->args->given[i].value;
        if (strcmp(name, "set") == 0)
            status = set(fleet, value);
        else if (strcmp(name, "node") == 0)
            status = add_server(fleet, value);
    }
    return status;
}

/* A topology says itself which servers there are. */
static int nodes_of_topology(struct fleet *fleet, const struct cw_profile_map *map)
{
    size_t count = cw_profile_map_node_count(map);
    free(fleet->nodes);
    fleet->nodes = calloc(count, sizeof *fleet->nodes);
    if (!fleet->nodes)
        return cli_fail("out of memory");
    for (size_t i = 0; i < count; i++) {
        const char *address = cw_profile_map_node(map, (uint32_t)i)->address;
        fleet->nodes[i] = (struct cw_node){.id = address, .address = address, .weight = 1};
    }
    fleet->count = count;
    return CLI_OK;
}

static int create_map(struct fleet *fleet, struct map_source *source)
{
    struct cw_error error = {0};
    struct cw_map_options options = {.placement = CW_PLACEMENT_PROFILE,
                                     .nodes = fleet->nodes,
                                     .node_count = fleet->count,
                                     .profile = fleet->profile,
                                     .profile_options = &fleet->options};
    if (cw_map_create(&options, &source->map, &error) != CW_OK)
        return cli_fail("%s: %s", fleet->profile->name, error.message);
    return CLI_OK;
}

/* Without servers: those of a topology, or numbers. */
static int create_without_servers(struct fleet *fleet, struct map_source *source)
{
    struct cw_profile_map *map = NULL;
    struct cw_error error = {0};
    int status = cw_profile_map_create(fleet->profile, &fleet->options, &map, &error);
    if (status == CW_ENO_NODES)
        return cli_usage(fleet->args->command, "%s needs servers; name them with --node",
                         fleet->profile->name);
    if (status != CW_OK)
        return cli_fail("%s: %s", fleet->profile->name, error.message);
    if (cw_profile_map_node(map, 0) == NULL) {
        source->numbers = map;
        return CLI_OK;
    }
    status = nodes_of_topology(fleet, map);
    if (status == CLI_OK)
        status = create_map(fleet, source);
    cw_profile_map_unref(&map);
    return status;
}

static int create(struct fleet *fleet, struct map_source *source)
{
    size_t room = fleet->args->given_count + 1;
    fleet->nodes = calloc(room, sizeof *fleet->nodes);
    fleet->servers = calloc(room, sizeof *fleet->servers);
    fleet->texts = calloc(2 * room, sizeof *fleet->texts);
    if (!fleet->nodes || !fleet->servers || !fleet->texts)
        return cli_fail("out of memory");
    int status = read_options(fleet);
    if (status != CLI_OK)
        return status;
    if (fleet->count == 0)
        return create_without_servers(fleet, source);
    if (!fleet->options.topology) {
        fleet->options.nodes = fleet->servers;
        fleet->options.node_count = fleet->count;
    }
    return create_map(fleet, source);
}

int profile_source_open(const struct cli_args *args, struct map_source *ret_source)
{
    struct fleet fleet = {.args = args};
    struct map_source source = {0};
    const char *name = cli_value(args, "profile");
    if (!name)
        return cli_usage(args->command, "--set and --node are of a profile; name it with "
                                        "--profile");
    if (cli_has(args, "config") || cli_has(args, "admin"))
        return cli_usage(args->command, "--profile says all; leave -c and --admin out");
    int status = profile_by_name(args->command, name, &fleet.profile);
    if (status != CLI_OK)
        return status;
    snprintf(source.pool, sizeof source.pool, "%s", name);
    status = create(&fleet, &source);
    for (size_t i = 0; i < fleet.text_count; i++)
        free(fleet.texts[i]);
    free(fleet.texts);
    free(fleet.nodes);
    free(fleet.servers);
    if (status == CLI_OK)
        *ret_source = source;
    return status;
}
