/*
 * CLUSTER NODES and CLUSTER SLOTS, as redis-cli prints them.
 */
#include <ctype.h>
#include <string.h>

#include "cli/import.h"
#include "cli/import_topology.h"
#include "cli/import_words.h"

/* What a line of CLUSTER NODES says that does not come along. */
static void judge_line(struct import *import, const struct import_line *line)
{
    if (line->count < 8)
        return;
    const char *address = line->words[1], *flags = line->words[2];
    if (strstr(flags, "slave") || strstr(flags, "replica"))
        import_remark(import, IMPORT_NOTE, line->number, NULL,
                      "'%.60s' is a replica; clockwise uses the masters alone", address);
    else if (strstr(flags, "fail"))
        import_remark(import, IMPORT_NOTE, line->number, NULL,
                      "'%.60s' has failed (%.30s); its slots stay its own here", address, flags);
    for (size_t i = 8; i < line->count; i++)
        if (line->words[i][0] == '[')
            import_remark(import, IMPORT_MOVES, line->number, NULL,
                          "slot %.20s is being moved: some of its keys are on the other node "
                          "already; finish that first",
                          line->words[i] + 1);
}

static void read_redis_cluster(struct import *import)
{
    struct import_lines lines;
    const struct import_line *line;
    struct import_pool *pool = import_topology(import, "cluster", "redis-cluster", NULL, NULL);
    if (!pool)
        return;
    pool->engine = "redis";
    import_remark(
        import, IMPORT_NOTE, 0, NULL,
        "the slots are as they were when this was written; import again after they moved");
    import_lines_init(&lines, import);
    if (strstr(import->text, "connected"))
        while ((line = import_lines_next(&lines)) != NULL)
            judge_line(import, line);
}

/* A line of CLUSTER NODES begins with 40 hexadecimal digits; CLUSTER SLOTS with two numbers. */
static bool looks_like_redis_cluster(const char *text)
{
    const char *at = text + strspn(text, " \t\r\n");
    if (strspn(at, "0123456789abcdef") == 40 && isspace((unsigned char)at[40]))
        return true;
    if (strncmp(at, "1) 1) (integer) ", 16) == 0)
        return true;
    size_t first = strspn(at, "0123456789");
    const char *second = at + first + strspn(at + first, "\r\n");
    return first > 0 && second > at + first && strspn(second, "0123456789") > 0;
}

const struct import_format import_format_redis_cluster = {
    .name = "redis-cluster",
    .what = "what CLUSTER NODES or CLUSTER SLOTS answered",
    .looks_like = looks_like_redis_cluster,
    .read = read_redis_cluster,
};
