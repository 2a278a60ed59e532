/*
 * clockwise plan: what would move? From the map that there is to the one that follows it when nodes
 * are added, removed or weighed differently; nothing is changed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <clockwise/clockwise.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/lines.h"
#include "cli/map_source.h"
#include "cli/plan_change.h"
#include "cli/plan_keys.h"
#include "cli/plan_print.h"
#include "cli/plan_slots.h"
#include "cli/profile_source.h"

/* ---- the two maps ---------------------------------------------------------------------------- */

static int follow(struct planned *planned, const struct node_list *list)
{
    struct cw_error error = {0};
    int status = list->servers
                     ? cw_map_change_servers(planned->from, list->nodes, list->servers, list->count,
                                             &planned->to, &error)
                     : cw_map_change(planned->from, list->nodes, list->count, &planned->to, &error);
    if (status != CW_OK)
        return cli_fail("pool %s: %s", planned->pool, error.message);
    return CLI_OK;
}

static int apply_changes(const struct cli_args *args, struct node_list *list)
{
    int status = CLI_OK;
    for (size_t i = 0; i < args->given_count && status == CLI_OK; i++) {
        const char *name = args->given[i].option->name, *value = args->given[i].value;
        if (strcmp(name, "add") == 0)
            status = node_list_add(list, args->command, value);
        else if (strcmp(name, "remove") == 0)
            status = node_list_remove(list, args->command, value);
        else if (strcmp(name, "weight") == 0)
            status = node_list_weigh(list, args->command, value);
        else if (strcmp(name, "rename") == 0)
            status = node_list_rename(list, args->command, value);
    }
    return status;
}

static int change_by_options(const struct cli_args *args, struct planned *planned)
{
    struct node_list list;
    int status = node_list_init(&list, planned->from, args->given_count);
    if (status == CLI_OK)
        status = apply_changes(args, &list);
    if (status == CLI_OK)
        status = follow(planned, &list);
    node_list_release(&list);
    return status;
}

static int follow_nodes_of(struct planned *planned, const struct cw_map *map)
{
    struct node_list list;
    int status = node_list_init(&list, map, 0);
    if (status == CLI_OK)
        status = follow(planned, &list);
    node_list_release(&list);
    return status;
}

/* A profile's map is a function of its nodes, without history. */
static bool goes_on(const struct cw_map *from, const struct cw_map *to)
{
    return from && to && cw_map_placement(from) != CW_PLACEMENT_PROFILE &&
           cw_map_placement(from) == cw_map_placement(to) &&
           cw_map_slot_count(from) == cw_map_slot_count(to);
}

/* What follows when the pool becomes as another configuration says: by the same rule the map that
 * there is goes on with other nodes; by another rule one is made anew. */
static int change_to_file(const struct cli_args *args, struct planned *planned)
{
    struct map_source target;
    /* A fleet that was told on the command line has no pool's name. */
    const char *pool = profile_source_is_asked_for(args) ? cli_value(args, "pool") : planned->pool;
    int status = map_source_from_file(cli_value(args, "to"), pool, false, &target);
    if (status != CLI_OK)
        return status;
    if (!goes_on(planned->from, target.map)) {
        planned->to = target.map;
        return CLI_OK;
    }
    status = follow_nodes_of(planned, target.map);
    cw_map_unref(&target.map);
    return status;
}

static bool has_changes(const struct cli_args *args)
{
    return cli_has(args, "add") || cli_has(args, "remove") || cli_has(args, "weight") ||
           cli_has(args, "rename");
}

static int check_arguments(const struct cli_args *args)
{
    if (cli_has(args, "to") && has_changes(args))
        return cli_usage(args->command,
                         "--to says all; leave --add, --remove, --weight and --rename out");
    if (!cli_has(args, "to") && !has_changes(args))
        return cli_usage(args->command, "nothing to plan; use --add, --remove, --weight or --to");
    if (cli_has(args, "from") && (cli_has(args, "config") || cli_has(args, "admin")))
        return cli_usage(args->command, "--from is the same as -c; leave one out");
    if (cli_has(args, "from") && profile_source_is_asked_for(args))
        return cli_usage(args->command, "--from and --profile exclude each other");
    if (cli_has(args, "list-keys") && cli_has(args, "json"))
        return cli_usage(args->command, "--list-keys and --json exclude each other");
    return CLI_OK;
}

static int open_from(const struct cli_args *args, struct map_source *ret_source)
{
    const char *from = cli_value(args, "from");
    if (profile_source_is_asked_for(args))
        return profile_source_open(args, ret_source);
    if (from)
        return map_source_from_file(from, cli_value(args, "pool"), true, ret_source);
    return map_source_open(args, ret_source);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static int count_keys(const struct cli_args *args, struct planned *planned)
{
    const char *name = cli_value(args, "keys");
    int file = STDIN_FILENO;
    bool is_stdin = !name || strcmp(name, "-") == 0;
    if (!name && !lines_on_stdin() && !cli_has(args, "list-keys"))
        return CLI_OK;
    if (!is_stdin && (file = open(name, O_RDONLY | O_CLOEXEC)) < 0)
        return cli_fail("%s: %s", name, strerror(errno));
    int status = plan_count_keys(planned->plan, planned->from, planned->to, file,
                                 is_stdin ? "standard input" : name, cli_has(args, "list-keys"),
                                 &planned->keys);
    if (!is_stdin)
        close(file);
    /* A pipe on which nothing came was no list of keys: how most programs start us. */
    planned->has_keys = name || planned->keys.total > 0;
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int print(const struct cli_args *args, const struct planned *planned)
{
    struct buffer out = BUFFER_INIT;
    if (cli_has(args, "list-keys"))
        return cli_finish_output();
    if (!cli_has(args, "json"))
        plan_print_tables(planned, &out);
    else if (!plan_print_json(planned, &out)) {
        buffer_release(&out);
        return cli_fail("out of memory");
    }
    return cli_print(&out);
}

/* Where a placement has no ranges: good for 0.05 %, and 0.1 % where whole keys are made. */
enum { PLAN_SAMPLES = 1 << 22, PLAN_KEYS = 1 << 20 };

static int make_plan(struct planned *planned)
{
    int status = cw_plan_create(planned->from, planned->to, &planned->plan);
    bool has_profile = cw_map_profile_map(planned->from) || cw_map_profile_map(planned->to);
    if (status == CW_ENOT_SUPPORTED) {
        planned->sample_count = has_profile ? PLAN_KEYS : PLAN_SAMPLES;
        status = cw_plan_estimate(planned->from, planned->to, planned->sample_count,
                                  &planned->plan);
    }
    if (status == CW_OK)
        return CLI_OK;
    return cli_fail("pool %s: %s", planned->pool, cw_status_message((enum cw_status)status));
}

static int plan_and_print(const struct cli_args *args, struct planned *planned)
{
    int status = cli_has(args, "to") ? change_to_file(args, planned)
                                     : change_by_options(args, planned);
    if (status == CLI_OK)
        status = make_plan(planned);
    if (status == CLI_OK)
        status = plan_with_slots(planned);
    if (status == CLI_OK)
        status = count_keys(args, planned);
    if (status == CLI_OK)
        status = print(args, planned);
    key_counts_release(&planned->keys);
    cw_plan_destroy(&planned->plan);
    cw_map_unref(&planned->to);
    return status;
}

static int run(const struct cli_args *args)
{
    struct map_source source = {0};
    int status = check_arguments(args);
    if (status == CLI_OK)
        status = open_from(args, &source);
    if (status != CLI_OK)
        return status;
    struct planned planned = {.pool = source.pool, .from = source.map};
    if (source.map)
        status = plan_and_print(args, &planned);
    else
        status = cli_usage(args->command, "%s places on numbers; name servers with --node",
                           source.pool);
    map_source_close(&source);
    return status;
}

static const struct cli_option options[] = {
    MAP_SOURCE_OPTIONS,
    PROFILE_SOURCE_OPTIONS,
    {"add", 'a', "ID[=ADDRESS][,weight=W][,zone=Z]",
     "Add a node; with a profile also name=, number=, server= and down."},
    {"remove", 'r', "ID", "Remove a node; may stand several times."},
    {"weight", 'w', "ID=W", "Give a node another weight; may stand several times."},
    {"rename", 0, "ID=NAME", "Give a server of a profile another name."},
    {"from", 0, "FILE", "The same as -c FILE."},
    {"to", 0, "FILE", "What making the map like this configuration moves (clockwise apply)."},
    {"keys", 0, "FILE", "Count which of these keys move, one a line; -: standard input."},
    {"list-keys", 'l', NULL,
     "Print the keys that move, as `key TAB from TAB to`, and nothing else."},
    {"json", 0, NULL, "Print JSON."},
    {NULL, 0, NULL, NULL},
};

const struct cli_command command_plan = {
    .name = "plan",
    .operands = "",
    .summary = "Say what would move if nodes came, went or had other weights. Changes nothing.",
    .details =
        "The shares of the nodes before and after, and what moves from where to where. Keys on "
        "standard\ninput (when that is a file or a pipe) or in --keys FILE are counted along the "
        "moves. \"Without need\"\nis what moves between two nodes that stay although the receiver "
        "should not have more, or the\ngiver not less.\n\n"
        "  clockwise plan -c clockwise.yaml --add cache-4=10.0.0.4:6379,weight=2\n"
        "  clockwise plan --remove cache-1 --weight cache-2=3 < keys.txt\n"
        "  clockwise plan --profile twemproxy-ketama --node 10.0.0.1:6379 --node 10.0.0.2:6379 \\\n"
        "    --add 10.0.0.3:6379\n"
        "  clockwise plan --from twemproxy.yaml --to slots.yaml\n",
    .options = options,
    .run = run,
};
