#include "cli/apply_go.h"

#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/apply_ask.h"
#include "cli/apply_plan.h"
#include "cli/apply_watch.h"
#include "control/table.h"

struct going {
    const struct cli_args *args;
    const char *admin, *pool, *typed;
    json_t *wish, *plan, *transition;
};

const char *apply_admin(const struct cli_args *args)
{
    const char *admin = cli_value(args, "admin");
    return admin ? admin : MAP_SOURCE_ADMIN;
}

/* ---- options --------------------------------------------------------------------------------- */

static int check_options(const struct cli_args *args)
{
    const char *verify = cli_value(args, "verify");
    if (verify && strcmp(verify, "deep") != 0)
        return cli_usage(args->command, "--verify %s: use --verify deep, or leave it out", verify);
    if (cli_has(args, "wait") && cli_has(args, "no-wait"))
        return cli_usage(args->command, "--wait and --no-wait exclude each other");
    if (cli_has(args, "dry-run"))
        return CLI_OK;
    if (cli_has(args, "json") && !cli_has(args, "yes"))
        return cli_usage(args->command, "--json asks nobody; give --yes to change something, or "
                                        "--dry-run to see the plan");
    if (!cli_has(args, "yes") && !isatty(STDIN_FILENO))
        return cli_usage(args->command, "there is no terminal on which to ask; give --yes to "
                                        "change something, or --dry-run to see the plan");
    return CLI_OK;
}

static void set_who(json_t *wish)
{
    const struct passwd *user = getpwuid(geteuid());
    char text[80];
    if (user)
        snprintf(text, sizeof text, "%s", user->pw_name);
    else
        snprintf(text, sizeof text, "user %lu", (unsigned long)geteuid());
    json_object_set_new(wish, "who", json_string(text));
}

static int add_options(const struct going *going)
{
    const struct cli_args *args = going->args;
    const char *limits = cli_value(args, "throttle");
    json_t *throttle = NULL;
    set_who(going->wish);
    if (cli_has(args, "verify"))
        json_object_set_new(going->wish, "deep", json_true());
    if (cli_has(args, "purge"))
        json_object_set_new(going->wish, "purge", json_true());
    if (!limits)
        return CLI_OK;
    int status = apply_throttle_read(args->command, limits, &throttle);
    if (status == CLI_OK)
        json_object_set_new(going->wish, "throttle", throttle);
    return status;
}

/* ---- asking the person ----------------------------------------------------------------------- */

static int confirm(const struct going *going)
{
    char line[CW_ID_LEN_MAX + 2] = "";
    if (going->typed)
        fprintf(stderr, "Type the node's id to go on: ");
    else
        fprintf(stderr, "Go on? [y/N] ");
    if (!fgets(line, sizeof line, stdin))
        fprintf(stderr, "\n");
    line[strcspn(line, "\r\n")] = 0;
    bool is_yes = going->typed ? strcmp(line, going->typed) == 0
                               : strcasecmp(line, "y") == 0 || strcasecmp(line, "yes") == 0;
    return is_yes ? CLI_OK : cli_fail("nothing was changed");
}

/* ---- the steps ------------------------------------------------------------------------------- */

static int show_plan(const struct going *going)
{
    struct buffer out = BUFFER_INIT;
    apply_plan_print(going->plan, table_wants_color(STDOUT_FILENO), &out);
    return cli_print(&out);
}

static int start(struct going *going)
{
    json_t *started = NULL;
    json_object_set_new(going->wish, "generation",
                        json_integer((json_int_t)apply_number(going->plan, "generation_before")));
    int status = apply_ask(going->admin, going->pool, "transitions", going->wish, &started);
    if (status == CLI_OK)
        going->transition = json_incref(json_object_get(started, "transition"));
    json_decref(started);
    return status;
}

static int say_started(const struct going *going)
{
    if (cli_has(going->args, "json"))
        return CLI_OK;
    printf("started: transition %" PRIu64 "; `clockwise transition status` shows how it goes\n",
           apply_number(going->transition, "id"));
    return cli_finish_output();
}

static int wait_for_it(struct going *going)
{
    struct buffer out = BUFFER_INIT;
    json_decref(going->transition);
    going->transition = NULL;
    int status = apply_watch(going->admin, going->pool, &going->transition);
    if (status != CLI_OK || cli_has(going->args, "json"))
        return status;
    apply_append_summary(going->transition, &out);
    return cli_print(&out);
}

static int change(struct going *going)
{
    bool is_asking = !cli_has(going->args, "yes");
    int status = is_asking ? confirm(going) : CLI_OK;
    if (status == CLI_OK)
        status = start(going);
    if (status != CLI_OK)
        return status;
    return cli_has(going->args, "no-wait") ? say_started(going) : wait_for_it(going);
}

static int print_json(const struct going *going)
{
    struct buffer out = BUFFER_INIT;
    json_t *root = json_pack("{s:O?, s:O?}", "plan", going->plan, "transition", going->transition);
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    if (text)
        buffer_printf(&out, "%s\n", text);
    json_decref(root);
    int status = text ? cli_print(&out) : cli_fail("out of memory");
    free(text);
    return status;
}

static int plan_and_change(struct going *going)
{
    bool is_json = cli_has(going->args, "json");
    int status = apply_ask(going->admin, going->pool, "plan", going->wish, &going->plan);
    if (status != CLI_OK)
        return status;
    bool is_change = json_is_true(json_object_get(going->plan, "is_change"));
    if (!is_change && !is_json) {
        printf("pool %s: nothing to change\n", going->pool);
        return cli_finish_output();
    }
    if (!is_json)
        status = show_plan(going);
    if (status == CLI_OK && is_change && !cli_has(going->args, "dry-run"))
        status = change(going);
    int printed = is_json ? print_json(going) : CLI_OK;
    return status != CLI_OK ? status : printed;
}

int apply_go(const struct cli_args *args, const char *pool, json_t *wish, const char *typed)
{
    char name[64];
    struct going going = {.args = args, .admin = apply_admin(args), .typed = typed, .wish = wish};
    int status = wish ? check_options(args) : cli_fail("out of memory");
    if (status == CLI_OK)
        status = add_options(&going);
    if (status == CLI_OK)
        status = map_source_ask_pool(going.admin, pool, name, sizeof name);
    going.pool = name;
    if (status == CLI_OK)
        status = plan_and_change(&going);
    json_decref(going.wish);
    json_decref(going.plan);
    json_decref(going.transition);
    return status;
}
