/*
 * The table of options as people read it: the reference (Markdown), `clockwise serve --help`, and
 * the sentences of which the manual page is made.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/options.h"

void option_describe_type(const struct option *option, struct buffer *out)
{
    static const char *const names[] = {
        [OPTION_TEXT] = "text",           [OPTION_ADDRESS] = "address",
        [OPTION_INTEGER] = "number",      [OPTION_SIZE] = "size",
        [OPTION_DURATION] = "duration",   [OPTION_BOOL] = "yes or no",
        [OPTION_PLACEMENT] = "placement",
    };
    if (option->type != OPTION_CHOICE) {
        buffer_append_text(out, names[option->type]);
        return;
    }
    for (const char *const *choice = option->choices; *choice; choice++) {
        const char *before = choice == option->choices ? "" : choice[1] ? ", " : " or ";
        buffer_printf(out, "%s%s", before, *choice);
    }
}

void option_describe_range(const struct option *option, struct buffer *out)
{
    char min[32], max[32];
    if (option->type == OPTION_INTEGER) {
        buffer_printf(out, "%" PRId64 " to %" PRId64, option->min, option->max);
        return;
    }
    if (option->type == OPTION_SIZE) {
        option_format_size(option->min, min, sizeof min);
        option_format_size(option->max, max, sizeof max);
    } else if (option->type == OPTION_DURATION) {
        option_format_duration(option->min, min, sizeof min);
        option_format_duration(option->max, max, sizeof max);
    } else {
        return;
    }
    buffer_printf(out, "%s to %s", min, max);
}

static const char *default_of(const struct option *option)
{
    return option->default_text ? option->default_text : "none";
}

static const char *note_of(const struct option *option)
{
    return option->applies == APPLIES_NOT_YET ? " Not supported yet." : "";
}

/* ---- Markdown -------------------------------------------------------------------------------- */

static void print_section_head(const struct section *section, struct buffer *out)
{
    if (section->id == SECTION_TOP) {
        buffer_append_text(out, "\n## At the top\n\n");
    } else {
        buffer_append_text(out, "\n## `");
        struct buffer path = BUFFER_INIT;
        section_path(section->id, &path);
        buffer_append(out, buffer_bytes(&path), path.len);
        buffer_release(&path);
        buffer_append_text(out, "`\n\n");
    }
    buffer_printf(out, "%s\n\n| key | value | range | default | meaning |\n|---|---|---|---|---|\n",
                  section->help);
}

static void print_row(const struct option *option, struct buffer *out)
{
    buffer_printf(out, "| `%s` | ", option->key);
    option_describe_type(option, out);
    buffer_append_text(out, " | ");
    option_describe_range(option, out);
    const char *quote = option->default_text && option->default_text != option_required ? "`" : "";
    buffer_printf(out, " | %s%s%s | %s%s |\n", quote, default_of(option), quote, option->help,
                  note_of(option));
}

void options_print_reference(struct buffer *out)
{
    buffer_append_text(
        out, "# Configuration reference\n\n"
             "Printed by `clockwise help --reference` from the table that reads the file; do not "
             "edit.\n\n"
             "The file is YAML. A size is a whole number with `b`, `kb`, `mb`, `gb` or `tb` (by "
             "1024; a bare number is bytes), a duration one with `ms`, `s`, `m` or `h`. An address "
             "is `host:port`, `[v6]:port` or `unix:/path`. An unknown key is an error. All of it "
             "is read when the router starts.\n");
    for (int section = 0; section < SECTION_COUNT; section++) {
        print_section_head(section_by_id((enum section_id)section), out);
        for (size_t i = 0; i < option_count(); i++)
            if (option_by_index(i)->section == (enum section_id)section)
                print_row(option_by_index(i), out);
    }
}

/* ---- terminal -------------------------------------------------------------------------------- */

void option_describe_path(const struct option *option, struct buffer *out)
{
    size_t before = out->len;
    struct buffer path = BUFFER_INIT;
    section_path(option->section, &path);
    buffer_append(out, path.len ? buffer_bytes(&path) : "", path.len);
    buffer_release(&path);
    buffer_printf(out, "%s%s", out->len > before ? "." : "", option->key);
}

void options_print_help(struct buffer *out)
{
    for (size_t i = 0; i < option_count(); i++) {
        const struct option *option = option_by_index(i);
        if (option->applies == APPLIES_NOT_YET)
            continue;
        struct buffer path = BUFFER_INIT, type = BUFFER_INIT;
        option_describe_path(option, &path);
        option_describe_type(option, &type);
        buffer_printf(out, "  %-26.*s %.*s, default %s\n", (int)path.len, buffer_bytes(&path),
                      (int)type.len, buffer_bytes(&type), default_of(option));
        buffer_release(&path);
        buffer_release(&type);
    }
}

/* ---- sentences --------------------------------------------------------------------------------
 */

void option_describe(const struct option *option, struct buffer *out)
{
    struct buffer range = BUFFER_INIT;
    option_describe_type(option, out);
    option_describe_range(option, &range);
    if (range.len)
        buffer_printf(out, ", %.*s", (int)range.len, buffer_bytes(&range));
    buffer_release(&range);
    buffer_printf(out, "; default %s. %s%s", default_of(option), option->help, note_of(option));
}
