/*
 * clockwise transition: the change that a router is carrying out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/suggest.h"
#include "cli/apply_ask.h"
#include "cli/apply_go.h"
#include "cli/apply_watch.h"
#include "cli/commands.h"
#include "cli/transition_print.h"
#include "control/table.h"

struct telling {
    const struct cli_args *args;
    const char *admin, *pool;
};

static int print_json(const json_t *root)
{
    struct buffer out = BUFFER_INIT;
    char *text = json_dumps(root, JSON_INDENT(2));
    if (text)
        buffer_printf(&out, "%s\n", text);
    int status = text ? cli_print(&out) : cli_fail("out of memory");
    free(text);
    return status;
}

/* ---- the verbs ------------------------------------------------------------------------------- */

static int tell_status(const struct telling *telling)
{
    struct buffer out = BUFFER_INIT;
    json_t *transition = NULL;
    int status = apply_ask(telling->admin, telling->pool, "transition", NULL, &transition);
    if (status != CLI_OK)
        return status;
    if (cli_has(telling->args, "json")) {
        status = print_json(transition);
    } else {
        transition_print(transition, table_wants_color(STDOUT_FILENO), &out);
        status = cli_print(&out);
    }
    json_decref(transition);
    return status;
}

static int tell_wait(const struct telling *telling)
{
    struct buffer out = BUFFER_INIT;
    json_t *transition = NULL;
    int status = apply_watch(telling->admin, telling->pool, &transition);
    if (transition && cli_has(telling->args, "json")) {
        int printed = print_json(transition);
        status = status != CLI_OK ? status : printed;
    } else if (status == CLI_OK) {
        apply_append_summary(transition, &out);
        status = cli_print(&out);
    }
    json_decref(transition);
    return status;
}

static int tell(const struct telling *telling, const char *verb, const json_t *body)
{
    char page[40];
    json_t *answer = NULL;
    snprintf(page, sizeof page, "transition/%s", verb);
    int status = apply_ask(telling->admin, telling->pool, page, body, &answer);
    if (status != CLI_OK)
        return status;
    if (cli_has(telling->args, "json")) {
        status = print_json(answer);
    } else {
        const char *text = apply_text(answer, "text");
        struct buffer out = BUFFER_INIT;
        buffer_printf(&out, "pool %s: ", telling->pool);
        table_append_safe(&out, *text ? text : "ok", *text ? strlen(text) : 2);
        buffer_append_text(&out, "\n");
        status = cli_print(&out);
    }
    json_decref(answer);
    return status;
}

static int tell_verb(const struct telling *telling)
{
    json_t *body = json_object();
    int status = tell(telling, telling->args->operands[0], body);
    json_decref(body);
    return status;
}

/* What is waited for, so that the question is about something. */
static int ask_whether(const struct telling *telling)
{
    json_t *transition = NULL;
    struct buffer text = BUFFER_INIT;
    char line[8] = "";
    int status = apply_ask(telling->admin, telling->pool, "transition", NULL, &transition);
    if (status != CLI_OK)
        return status;
    transition_print_short(transition, "", false, &text);
    json_decref(transition);
    fprintf(stderr,
            "%.*sWhat does not answer is not waited for any more, and not cleared. No key is lost; "
            "old copies may\nstay there, so empty such a server before it is used again.\n"
            "Go on? [y/N] ",
            (int)text.len, buffer_bytes(&text));
    buffer_release(&text);
    if (!fgets(line, sizeof line, stdin))
        fprintf(stderr, "\n");
    line[strcspn(line, "\r\n")] = 0;
    bool is_yes = strcasecmp(line, "y") == 0 || strcasecmp(line, "yes") == 0;
    return is_yes ? CLI_OK : cli_fail("nothing was changed");
}

static int tell_abandon(const struct telling *telling)
{
    const struct cli_args *args = telling->args;
    bool is_asking = !cli_has(args, "yes");
    if (is_asking && (cli_has(args, "json") || !isatty(STDIN_FILENO)))
        return cli_usage(args->command, "there is nobody to ask; give --yes to give up the nodes "
                                        "that `clockwise transition status` names");
    int status = is_asking ? ask_whether(telling) : CLI_OK;
    return status == CLI_OK ? tell_verb(telling) : status;
}

static int tell_throttle(const struct telling *telling)
{
    json_t *throttle = NULL;
    int status = apply_throttle_read(telling->args->command, telling->args->operands[1], &throttle);
    if (status == CLI_OK)
        status = tell(telling, "throttle", throttle);
    json_decref(throttle);
    return status;
}

static const struct verb {
    const char *name;
    size_t operands; /* with the verb */
    int (*tell)(const struct telling *telling);
} verbs[] = {
    {"status", 1, tell_status},     {"wait", 1, tell_wait},   {"pause", 1, tell_verb},
    {"resume", 1, tell_verb},       {"cancel", 1, tell_verb}, {"abandon", 1, tell_abandon},
    {"throttle", 2, tell_throttle},
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
    const char *nearest = suggest_nearest(args->operands[0], names, VERB_COUNT);
    return cli_usage(args->command, "transition %s: use %s", args->operands[0],
                     nearest ? nearest
                             : "status, wait, pause, resume, cancel, abandon or throttle");
}

static int run(const struct cli_args *args)
{
    char name[64];
    struct telling telling = {args, apply_admin(args), name};
    const char *typed = args->operand_count ? args->operands[0] : "status";
    const struct verb *verb = find_verb(typed);
    if (!verb)
        return unknown_verb(args);
    if (args->operand_count > verb->operands)
        return cli_usage(args->command, "'%s' is too much", args->operands[verb->operands]);
    if (verb->operands == 2 && args->operand_count < 2)
        return cli_usage(args->command, "how fast? transition throttle keys=N,bytes=SIZE,auto");
    int status = map_source_ask_pool(telling.admin, cli_value(args, "pool"), name, sizeof name);
    return status == CLI_OK ? verb->tell(&telling) : status;
}

static const struct cli_option options[] = {
    {"pool", 'p', "NAME", "The pool, where there are several."},
    {"admin", 0, "ADDRESS", "The router's admin address (" MAP_SOURCE_ADMIN " unless set)."},
    {"yes", 'y', NULL, "Ask nothing (abandon)."},
    {"json", 0, NULL, "Print the router's own JSON."},
    {NULL, 0, NULL, NULL},
};

const struct cli_command command_transition = {
    .name = "transition",
    .operands = "status|wait|pause|resume|cancel|abandon|throttle …",
    .summary = "Show or steer the change that the running router carries out.",
    .details =
        "  clockwise transition status               where it is, or how the last one went\n"
        "  clockwise transition wait                 show how it goes until it ends\n"
        "  clockwise transition pause                stop copying; clients notice nothing\n"
        "  clockwise transition resume               go on\n"
        "  clockwise transition cancel               give it up, before the switch: the targets "
        "are cleared\n"
        "  clockwise transition abandon              stop waiting for nodes that are gone for good "
        "and should\n"
        "                                            be cleared, after `cancel` or the switch\n"
        "  clockwise transition throttle keys=5000,bytes=20mb,auto\n"
        "                                            how fast, a second; off: no limit\n",
    .options = options,
    .run = run,
};
