/*
 * clockwise locate: where does a key live? Keys as arguments get a table on a terminal; keys on
 * standard input are streamed, so that a file of any length can be asked about.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <clockwise/clockwise.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/lines.h"
#include "cli/locate_write.h"
#include "cli/map_source.h"
#include "cli/profile_source.h"

/* ---- many keys ------------------------------------------------------------------------------- */

/* Gives on what there is, so that whoever reads us need not wait for the end. */
static int flush_output(struct locating *locating)
{
    struct buffer *out = &locating->out;
    if (out->len)
        fwrite(buffer_bytes(out), 1, out->len, stdout);
    buffer_clear(out);
    return cli_finish_output();
}

static int locate_stream(struct locating *locating, char delimiter)
{
    static struct line lines[LINES_BATCH_MAX];
    struct line_reader reader;
    int count, status = CLI_OK;
    lines_open(&reader, STDIN_FILENO, delimiter);
    while ((count = lines_next(&reader, lines)) > 0 && status == CLI_OK) {
        for (int i = 0; i < count; i++) {
            locating->keys[i] = lines[i].text;
            locating->key_lens[i] = lines[i].len;
        }
        status = locate_write(locating, (size_t)count) ? flush_output(locating)
                                                       : cli_fail("out of memory");
    }
    if (count == -EMSGSIZE)
        status = cli_fail("standard input: line %llu is longer than 64mb", reader.line_count + 1);
    else if (count < 0)
        status = cli_fail("standard input: %s", strerror(-count));
    lines_close(&reader);
    return status;
}

static int locate_operands(struct locating *locating, const struct cli_args *args)
{
    for (size_t done = 0; done < args->operand_count;) {
        size_t count = 0;
        for (; count < LINES_BATCH_MAX && done < args->operand_count; count++, done++) {
            locating->keys[count] = args->operands[done];
            locating->key_lens[count] = strlen(args->operands[done]);
        }
        if (!locate_write(locating, count))
            return cli_fail("out of memory");
    }
    return CLI_OK;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int read_replica_count(const struct cli_args *args, size_t *ret_count)
{
    const char *text = cli_value(args, "replicas");
    char *end = NULL;
    *ret_count = 1;
    if (!text)
        return CLI_OK;
    unsigned long count = strtoul(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || count < 1 || count > CW_REPLICA_COUNT_MAX)
        return cli_usage(args->command, "-k %s: use 1 to %u", text, CW_REPLICA_COUNT_MAX);
    *ret_count = count;
    return CLI_OK;
}

static int locate_all(struct locating *locating, const struct cli_args *args)
{
    bool has_keys = args->operand_count > 0;
    if (has_keys && !locating->as_json && isatty(STDOUT_FILENO)) {
        locate_write_table(locating, args->operands, args->operand_count);
        return flush_output(locating);
    }
    if (locating->as_json)
        buffer_append_text(&locating->out, "[");
    int status = CLI_OK;
    if (has_keys)
        status = locate_operands(locating, args);
    else
        status = locate_stream(locating, cli_has(args, "null") ? 0 : '\n');
    if (locating->as_json)
        buffer_append_text(&locating->out, "\n]\n");
    return status == CLI_OK ? flush_output(locating) : status;
}

static int open_source(const struct cli_args *args, struct map_source *ret_source)
{
    if (profile_source_is_asked_for(args))
        return profile_source_open(args, ret_source);
    return map_source_open(args, ret_source);
}

static int locate_from(const struct cli_args *args, const struct map_source *source,
                       size_t replica_count)
{
    struct locating *locating = calloc(1, sizeof *locating);
    if (!locating)
        return cli_fail("out of memory");
    locating->map = source->map;
    locating->numbers = source->numbers;
    locating->replica_count = replica_count;
    locating->as_json = cli_has(args, "json");
    locating->is_first = true;
    int status = locating_init(locating);
    if (status == CLI_OK)
        status = locate_all(locating, args);
    locating_fini(locating);
    free(locating);
    return status;
}

static int run(const struct cli_args *args)
{
    struct map_source source = {0};
    size_t replica_count;
    int status = read_replica_count(args, &replica_count);
    if (status != CLI_OK)
        return status;
    if (args->operand_count == 0 && isatty(STDIN_FILENO))
        return cli_usage(args->command, "no keys; name some, or give them on standard input");
    status = open_source(args, &source);
    if (status != CLI_OK)
        return status;
    status = locate_from(args, &source, replica_count);
    map_source_close(&source);
    return status;
}

static const struct cli_option options[] = {
    MAP_SOURCE_OPTIONS,
    PROFILE_SOURCE_OPTIONS,
    {"replicas", 'k', "N", "Name the first N owners of each key, 1 to 16."},
    {"json", 0, NULL, "Print a JSON array."},
    {"null", '0', NULL, "Keys on standard input end with a NUL byte instead of a newline."},
    {NULL, 0, NULL, NULL},
};

const struct cli_command command_locate = {
    .name = "locate",
    .operands = "[KEY…]",
    .summary = "Say which node a key lives on.",
    .details =
        "Keys are arguments, or come on standard input, one a line, any number of them. The answer "
        "is\na table on a terminal, and otherwise a line `key TAB owner[,owner…]` each, as soon as "
        "the key has\ncome. A key may hold tabs: the owner is what stands behind the last one. Of "
        "a key with a hash\ntag only that is placed, as Redis does: what stands between the first "
        "{ and the next }.\n\n"
        "With --profile it is another system that is asked about: --node names its servers, in the "
        "order of\nits configuration, and --set its settings. A key for which a system has no "
        "place "
        "has nothing behind\nits tab.\n\n"
        "  clockwise locate user:1000 user:1001\n"
        "  clockwise locate -c clockwise.yaml < keys.txt > owners.tsv\n"
        "  clockwise locate --profile twemproxy-ketama --set hash=fnv1a_64 \\\n"
        "    --node 10.0.0.1:6379=2,alpha --node 10.0.0.2:6379,beta user:1000\n",
    .options = options,
    .run = run,
};
