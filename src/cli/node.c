/*
 * clockwise node: changes of single nodes, each in a word.
 */
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "base/utf8.h"
#include "cli/apply_go.h"
#include "cli/commands.h"

static int read_weight(const struct cli_args *args, const char *text, json_t *node)
{
    char *end = NULL;
    unsigned long weight = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || weight < 1 || weight > CW_WEIGHT_MAX)
        return cli_usage(args->command, "weight '%s': use a whole number from 1 to %u", text,
                         CW_WEIGHT_MAX);
    json_object_set_new(node, "weight", json_integer((json_int_t)weight));
    return CLI_OK;
}

/* ---- the verbs ------------------------------------------------------------------------------- */

static int wish_add(const struct cli_args *args, json_t **ret_wish)
{
    const char *weight = cli_value(args, "weight"), *zone = cli_value(args, "zone");
    json_t *node = json_pack("{s:s}", "id", args->operands[1]);
    int status = CLI_OK;
    if (args->operand_count > 2)
        json_object_set_new(node, "address", json_string(args->operands[2]));
    if (zone)
        json_object_set_new(node, "zone", json_string(zone));
    if (weight)
        status = read_weight(args, weight, node);
    if (status == CLI_OK)
        *ret_wish = json_pack("{s:[o]}", "add", node);
    else
        json_decref(node);
    return status;
}

static int wish_drain(const struct cli_args *args, json_t **ret_wish)
{
    *ret_wish = json_pack("{s:[s]}", "drain", args->operands[1]);
    return CLI_OK;
}

static int wish_weight(const struct cli_args *args, json_t **ret_wish)
{
    json_t *node = json_pack("{s:s}", "id", args->operands[1]);
    int status = read_weight(args, args->operands[2], node);
    if (status == CLI_OK)
        *ret_wish = json_pack("{s:[o]}", "weight", node);
    else
        json_decref(node);
    return status;
}

static int wish_replace(const struct cli_args *args, json_t **ret_wish)
{
    *ret_wish = json_pack("{s:{s:s, s:s}, s:b}", "replace", "id", args->operands[1], "address",
                          args->operands[2], "no_copy", cli_has(args, "no-copy"));
    return CLI_OK;
}

static int wish_dead(const struct cli_args *args, json_t **ret_wish)
{
    *ret_wish = json_pack("{s:s}", "dead", args->operands[1]);
    return CLI_OK;
}

static const struct verb {
    const char *name, *usage;
    size_t operands_min, operands_max; /* with the verb */
    int (*wish)(const struct cli_args *args, json_t **ret_wish);
} verbs[] = {
    {"add", "add ID ADDRESS (an embedded node has no address)", 2, 3, wish_add},
    {"drain", "drain ID", 2, 2, wish_drain},
    {"weight", "weight ID N", 3, 3, wish_weight},
    {"replace", "replace ID NEW-ADDRESS", 3, 3, wish_replace},
    {"dead", "dead ID", 2, 2, wish_dead},
};

enum { VERB_COUNT = sizeof verbs / sizeof *verbs };

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < VERB_COUNT; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

static int unknown_verb(const struct cli_args *args)
{
    const char *names[VERB_COUNT];
    for (size_t i = 0; i < VERB_COUNT; i++)
        names[i] = verbs[i].name;
    if (args->operand_count == 0)
        return cli_usage(args->command, "what about which node? add, drain, weight, replace, dead");
    static const char *const others[] = {"remove", "rm", "delete", "del", NULL};
    for (size_t i = 0; others[i]; i++)
        if (strcmp(args->operands[0], others[i]) == 0)
            return cli_usage(args->command,
                             "node %s: use drain, which gives its keys to the "
                             "others; or dead, if it is gone for good",
                             others[i]);
    const char *nearest = suggest_nearest(args->operands[0], names, VERB_COUNT);
    return cli_usage(args->command, "node %s: use %s", args->operands[0],
                     nearest ? nearest : "add, drain, weight, replace or dead");
}

/* JSON consists of UTF-8. */
static bool is_text(const char *text)
{
    return !text || utf8_is_valid(text, strlen(text));
}

/* Options that mean something to one verb only. */
static int check_options(const struct cli_args *args, const struct verb *verb)
{
    for (size_t i = 1; i < args->operand_count; i++)
        if (!is_text(args->operands[i]))
            return cli_usage(args->command, "'%s' is no UTF-8", args->operands[i]);
    if (!is_text(cli_value(args, "zone")))
        return cli_usage(args->command, "--zone is no UTF-8");
    if (verb->wish != wish_add && (cli_has(args, "weight") || cli_has(args, "zone")))
        return cli_usage(args->command, "--weight and --zone are for `node add`%s",
                         verb->wish == wish_weight ? "; write `node weight ID N`" : "");
    if (verb->wish != wish_replace && cli_has(args, "no-copy"))
        return cli_usage(args->command, "--no-copy is for `node replace`");
    return CLI_OK;
}

static int run(const struct cli_args *args)
{
    json_t *wish = NULL;
    const struct verb *verb = args->operand_count ? find_verb(args->operands[0]) : NULL;
    if (!verb)
        return unknown_verb(args);
    if (args->operand_count < verb->operands_min || args->operand_count > verb->operands_max)
        return cli_usage(args->command, "write clockwise node %s", verb->usage);
    int status = check_options(args, verb);
    if (status == CLI_OK)
        status = verb->wish(args, &wish);
    if (status != CLI_OK)
        return status;
    return apply_go(args, cli_value(args, "pool"), wish,
                    verb->wish == wish_dead ? args->operands[1] : NULL);
}

static const struct cli_option options[] = {
    {"weight", 'w', "N", "Of the node that is added (1)."},
    {"zone", 'z', "ZONE", "Of the node that is added."},
    {"no-copy", 0, NULL, "The server at the new address has the node's data already."},
    APPLY_OPTIONS,
    {NULL, 0, NULL, NULL},
};

const struct cli_command command_node = {
    .name = "node",
    .operands = "add|drain|weight|replace|dead ID …",
    .summary = "Add, drain, weigh, replace or give up a node of the running router.",
    .details =
        "Each shows what would move, asks, and carries it out while clients work:\n\n"
        "  clockwise node add cache-4 10.0.0.4:6379 --weight 2 --zone b\n"
        "  clockwise node drain cache-2              its keys go to the others, then it is free\n"
        "  clockwise node weight cache-1 3           its share follows\n"
        "  clockwise node replace cache-1 10.0.0.9:6379\n"
        "                                            another server for the same keys\n"
        "  clockwise node dead cache-3               its data is lost; others get its share\n\n"
        "A node that is declared dead is never used again under that id. To do several changes "
        "at once, move\nless: write them into the configuration and use `clockwise apply`.\n",
    .options = options,
    .run = run,
};
