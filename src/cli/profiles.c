/*
 * clockwise profiles: the systems whose placement we know, with what each was checked against; and
 * all about one of them.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <clockwise/profile.h>

#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/profile_source.h"
#include "control/table.h"

enum { NAMES_MAX = 256 };

/* ---- all ------------------------------------------------------------------------------------- */

static int print_list(void)
{
    static const char *const titles[] = {"PROFILE", "FAMILY", "CHECKED AGAINST",
                                         "BY",      "RULE",   NULL};
    struct buffer out = BUFFER_INIT;
    struct table table;
    table_init(&table, titles, table_wants_color(STDOUT_FILENO));
    for (size_t i = 0; i < cw_profile_count(); i++) {
        const struct cw_profile *profile = cw_profile_at(i);
        table_cell_colored(&table, TABLE_GREEN, profile->name);
        table_cell(&table, profile->family);
        table_cell(&table, profile->versions);
        table_cell(&table, profile->evidence);
        table_cell(&table, profile->rule);
    }
    table_print(&table, "", &out);
    table_release(&table);
    buffer_append_text(&out, "\n`clockwise profiles NAME` tells the limits, settings and hashes of "
                             "one.\n");
    return cli_print(&out);
}

/* ---- one ------------------------------------------------------------------------------------- */

static void print_settings(const struct cw_profile *profile, struct buffer *out)
{
    buffer_append_text(out, profile->settings ? "\nSettings:\n" : "\nIt has no settings.\n");
    for (uint32_t left = profile->settings; left; left &= left - 1)
        buffer_printf(out, "  %-14s %s\n", cw_profile_setting_name(left & -left),
                      cw_profile_setting_help(left & -left));
}

static void print_hashes(const struct cw_profile *profile, struct buffer *out)
{
    const char *name;
    if (!cw_profile_hash_at(profile, 0) || !(profile->settings & CW_PROFILE_HASH))
        return;
    buffer_append_text(out, "\nHashes:\n ");
    for (size_t i = 0; (name = cw_profile_hash_at(profile, i)); i++)
        buffer_printf(out, " %s%s", name, strcmp(name, profile->hash) == 0 ? " (unless set)" : "");
    buffer_append_text(out, "\n");
}

static int print_one(const struct cw_profile *profile)
{
    struct buffer out = BUFFER_INIT;
    buffer_printf(&out, "%s (%s)\n\n", profile->name, profile->family);
    buffer_printf(&out, "  rule             %s\n", profile->rule);
    buffer_printf(&out, "  checked against  %s\n", profile->versions);
    buffer_printf(&out, "  by               %s\n", profile->evidence);
    if (*profile->limits)
        buffer_printf(&out, "  limits           %s\n", profile->limits);
    print_settings(profile, &out);
    print_hashes(profile, &out);
    return cli_print(&out);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *json_profile(const struct cw_profile *profile)
{
    json_t *settings = json_array(), *hashes = json_array();
    const char *name;
    for (uint32_t left = profile->settings; left; left &= left - 1)
        json_array_append_new(settings, json_string(cw_profile_setting_name(left & -left)));
    for (size_t i = 0; (name = cw_profile_hash_at(profile, i)); i++)
        json_array_append_new(hashes, json_string(name));
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:o, s:o}", "name", profile->name,
                     "family", profile->family, "rule", profile->rule, "versions",
                     profile->versions, "evidence", profile->evidence, "limits", profile->limits,
                     "hash", profile->hash, "settings", settings, "hashes", hashes);
}

static int print_json(json_t *root)
{
    struct buffer out = BUFFER_INIT;
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    bool ok = text && buffer_append_text(&out, text) && buffer_append_text(&out, "\n");
    free(text);
    json_decref(root);
    if (ok)
        return cli_print(&out);
    buffer_release(&out);
    return cli_fail("out of memory");
}

static int print_json_list(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cw_profile_count(); i++)
        json_array_append_new(list, json_profile(cw_profile_at(i)));
    return print_json(list);
}

/* ---- the command ----------------------------------------------------------------------------- */

int profile_by_name(const struct cli_command *command, const char *name,
                    const struct cw_profile **ret_profile)
{
    const char *names[NAMES_MAX];
    size_t count = 0;
    *ret_profile = cw_profile_find(name);
    if (*ret_profile)
        return CLI_OK;
    for (; count < NAMES_MAX && count < cw_profile_count(); count++)
        names[count] = cw_profile_at(count)->name;
    const char *nearest = suggest_nearest(name, names, count);
    if (nearest)
        return cli_usage(command, "no profile '%s'; did you mean '%s'?", name, nearest);
    return cli_usage(command, "no profile '%s'; `clockwise profiles` lists them", name);
}

static int run(const struct cli_args *args)
{
    const struct cw_profile *profile;
    if (args->operand_count > 1)
        return cli_usage(args->command, "'%s' is too much; name one profile", args->operands[1]);
    if (args->operand_count == 0)
        return cli_has(args, "json") ? print_json_list() : print_list();
    int status = profile_by_name(args->command, args->operands[0], &profile);
    if (status != CLI_OK)
        return status;
    return cli_has(args, "json") ? print_json(json_profile(profile)) : print_one(profile);
}

static const struct cli_option options[] = {
    {"json", 0, NULL, "Print JSON."},
    {NULL, 0, NULL, NULL},
};

const struct cli_command command_profiles = {
    .name = "profiles",
    .operands = "[NAME]",
    .summary = "List the systems whose placement is known exactly, or tell all about one.",
    .details = "A profile is the exact rule by which another system places keys: use it with "
               "`locate` and `plan`,\nand as the placement of a pool. \"Checked by\" says how "
               "sure it is: by the real program, by test\nvectors of its authors, or by reading "
               "its source. docs/profiles.md has the traps of each family.\n\n"
               "  clockwise profiles\n"
               "  clockwise profiles twemproxy-ketama\n",
    .options = options,
    .run = run,
};
