/*
 * clockwise import: another system's configuration into ours, with the profile that keeps every key
 * where it is.
 */
#include "cli/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "control/config.h"

const struct import_format *const import_formats[] = {
    &import_format_redis_cluster, &import_format_nodetool,
    &import_format_mcrouter,      &import_format_memcached_proxy,
    &import_format_nginx,         &import_format_haproxy,
    &import_format_nutcracker,    NULL,
};

/* ---- the file -------------------------------------------------------------------------------- */

/* Everything from a file or a pipe, with a zero byte behind it. */
static int read_all(int file, const char *name, struct buffer *ret_text)
{
    for (;;) {
        char *to = buffer_reserve(ret_text, 64 << 10);
        ssize_t got = to ? read(file, to, 64 << 10) : -1;
        if (!to)
            return cli_fail("out of memory");
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cli_fail("%s: %s", name, strerror(errno));
        if (got == 0)
            break;
        buffer_added(ret_text, (size_t)got);
        if (ret_text->len > IMPORT_LEN_MAX)
            return cli_fail("%s: is larger than 16mb; is this a configuration?", name);
    }
    return buffer_append(ret_text, "", 1) ? CLI_OK : cli_fail("out of memory");
}

static int read_file(const char *name, struct buffer *ret_text)
{
    bool is_stdin = strcmp(name, "-") == 0;
    int file = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        return cli_fail("%s: %s", name, errno == ENOENT ? "no such file" : strerror(errno));
    int status = read_all(file, name, ret_text);
    if (!is_stdin)
        close(file);
    return status;
}

/* ---- which system ---------------------------------------------------------------------------- */

static void name_formats(struct buffer *out)
{
    for (size_t i = 0; import_formats[i]; i++)
        buffer_printf(out, "%s%s", i ? ", " : "", import_formats[i]->name);
    buffer_append(out, "", 1);
}

static const struct import_format *find_format(const struct cli_args *args, const char *file,
                                               const char *text)
{
    const char *name = cli_value(args, "format");
    struct buffer names = BUFFER_INIT;
    for (size_t i = 0; import_formats[i]; i++)
        if (name ? strcmp(import_formats[i]->name, name) == 0 : import_formats[i]->looks_like(text))
            return import_formats[i];
    name_formats(&names);
    if (name)
        cli_usage(args->command, "unknown format '%s'; there are %s", name, buffer_bytes(&names));
    else
        cli_fail("%s: of no system that is known here; say which with --format: %s", file,
                 buffer_bytes(&names));
    buffer_release(&names);
    return NULL;
}

/* The pool that is wanted, by the system's own word for it. */
static int find_section(const struct cli_args *args, const struct import_format *format,
                        const char **ret_section)
{
    static const char *const options[] = {"backend", "upstream", "pool"};
    for (size_t i = 0; i < 3; i++) {
        const char *value = cli_value(args, options[i]);
        if (value && (!format->section || strcmp(format->section, options[i]) != 0))
            return cli_usage(args->command, "--%s is not for %s%s%s", options[i], format->name,
                             format->section ? ", which wants --" : "",
                             format->section ? format->section : "");
        if (value)
            *ret_section = value;
    }
    return CLI_OK;
}

/* Another profile of the same family, where the file cannot tell (HAProxy's release). */
static int choose_placement(const struct cli_args *args, struct import *import)
{
    const char *name = cli_value(args, "placement");
    const struct cw_profile *profile = name ? cw_profile_find(name) : NULL;
    if (!name)
        return CLI_OK;
    if (!profile)
        return cli_usage(args->command, "unknown profile '%s'; see docs/profiles.md", name);
    for (size_t i = 0; i < import->pool_count; i++) {
        struct import_pool *pool = &import->pools[i];
        if (strcmp(pool->profile->family, profile->family) != 0)
            return cli_usage(args->command, "%s is no placement of %s", name,
                             pool->profile->family);
        pool->profile = profile;
    }
    return CLI_OK;
}

/* ---- reading --------------------------------------------------------------------------------- */

static unsigned line_at(const char *text, size_t offset)
{
    unsigned line = 1;
    for (size_t i = 0; i < offset; i++)
        line += text[i] == '\n';
    return line;
}

/* The text without a byte-order mark, in which no reader meets a zero byte. */
static int begin(struct import *import, const struct buffer *file, const char *name)
{
    const char *text = buffer_bytes(file);
    size_t len = file->len - 1;
    const char *zero = memchr(text, 0, len);
    if (zero)
        return cli_fail("%s:%u: a zero byte: this is no text", name,
                        line_at(text, (size_t)(zero - text)));
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        len -= 3;
    }
    if (strspn(text, " \t\r\n") == len)
        return cli_fail("%s: is empty", name);
    import_init(import, text, len);
    return CLI_OK;
}

/* Says what there is to say; CLI_OK when a configuration may be written. */
static int judge(const struct cli_args *args, const struct import *import, const char *file)
{
    struct buffer remarks = BUFFER_INIT;
    import_print_remarks(import, file, &remarks);
    fwrite(buffer_bytes(&remarks), 1, remarks.len, stderr);
    buffer_release(&remarks);
    if (import->no_memory)
        return cli_fail("out of memory");
    if (import->counts[IMPORT_WRONG])
        return cli_fail("%s: nothing was written: mend what is said above", file);
    if (import->counts[IMPORT_MOVES] && !cli_has(args, "force"))
        return cli_fail("%s: nothing was written: keys would be elsewhere, as is said above; "
                        "--force writes it all the same",
                        file);
    return CLI_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static bool has_secret(const struct import *import)
{
    for (size_t i = 0; i < import->pool_count; i++)
        if (import->pools[i].password)
            return true;
    return false;
}

static bool write_all(int file, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t put = write(file, bytes, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        bytes += put;
        len -= (size_t)put;
    }
    return true;
}

/* A new file, and none that is there already. One with a password is its owner's alone. */
static int write_file(const char *name, const struct buffer *text, bool is_secret)
{
    int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, is_secret ? 0600 : 0666);
    if (file < 0 && errno == EEXIST)
        return cli_fail("%s: is there already; name another file, or remove it", name);
    if (file < 0)
        return cli_fail("%s: %s", name, strerror(errno));
    bool is_whole = write_all(file, buffer_bytes(text), text->len);
    int problem = is_whole ? 0 : errno;
    if (close(file) < 0 && problem == 0)
        problem = errno;
    if (problem == 0)
        return CLI_OK;
    unlink(name);
    return cli_fail("%s: %s", name, strerror(problem));
}

static int write_result(const struct cli_args *args, struct import *import,
                        const struct import_format *format, const char *file)
{
    struct buffer text = BUFFER_INIT;
    const char *output = cli_value(args, "output");
    int status = CLI_OK;
    if (!import_write(import, format, file, &text))
        status = cli_fail("out of memory");
    else if (text.len > CONFIG_FILE_LEN_MAX)
        status = cli_fail("%s: the configuration would be larger than 16mb, which is the most; "
                          "take fewer pools",
                          file);
    else if (!import_verify(import, &text))
        status = judge(args, import, file);
    if (status == CLI_OK && output)
        status = write_file(output, &text, has_secret(import));
    else if (status == CLI_OK)
        return cli_print(&text);
    buffer_release(&text);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int import_text_into(const struct cli_args *args, struct import *import, const char *file)
{
    const struct import_format *format = find_format(args, file, import->text);
    if (!format)
        return cli_value(args, "format") ? CLI_USAGE : CLI_FAILED;
    int status = find_section(args, format, &import->section);
    if (status != CLI_OK)
        return status;
    format->read(import);
    if (import->pool_count == 0 && import->counts[IMPORT_WRONG] == 0)
        import_remark(import, IMPORT_WRONG, 0, NULL, "no %s%s%s%s in it",
                      format->section ? format->section : "servers", import->section ? " '" : "",
                      import->section ? import->section : "", import->section ? "'" : "");
    if (import->counts[IMPORT_WRONG] == 0)
        status = choose_placement(args, import);
    if (status != CLI_OK)
        return status;
    import_check(import);
    status = judge(args, import, file);
    return status == CLI_OK ? write_result(args, import, format, file) : status;
}

static int run_import(const struct cli_args *args)
{
    struct buffer text = BUFFER_INIT;
    struct import *import;
    if (args->operand_count != 1)
        return cli_usage(args->command,
                         args->operand_count ? "one file at a time" : "name the file to read");
    const char *file = args->operands[0];
    int status = read_file(file, &text);
    if (status == CLI_OK && !(import = malloc(sizeof *import)))
        status = cli_fail("out of memory");
    if (status == CLI_OK) {
        if (strcmp(file, "-") == 0)
            file = "stdin";
        memset(import, 0, sizeof *import);
        status = begin(import, &text, file);
        if (status == CLI_OK)
            status = import_text_into(args, import, file);
        import_fini(import);
        free(import);
    }
    buffer_release(&text);
    return status;
}

static const struct cli_option options[] = {
    {"format", 'f', "NAME", "What the file is, by a name as above; otherwise it is recognised."},
    {"backend", 0, "NAME", "HAProxy's backend, where several have servers."},
    {"upstream", 0, "NAME", "nginx's upstream, where several have a hash."},
    {"pool", 'p', "NAME", "One pool of the file; otherwise all of them."},
    {"placement", 0, "PROFILE", "Another profile of the same system: haproxy-3.0-consistent."},
    {"output", 'o', "FILE", "Write there instead of to standard output; never over a file."},
    {"force", 0, NULL, "Write it although keys will be elsewhere."},
    {NULL, 0, NULL, NULL},
};

const struct cli_command command_import = {
    .name = "import",
    .operands = "FILE",
    .summary = "Turn another system's configuration into ours.",
    .details =
        "Reads the configuration of a system that places keys today, and writes one for clockwise\n"
        "with the profile that leaves every key where it is. It reads nutcracker (twemproxy's\n"
        "nutcracker.yml), haproxy (a backend), nginx (an upstream), mcrouter (its JSON),\n"
        "memcached-proxy (the Lua of memcached's own proxy), redis-cluster (what CLUSTER NODES or\n"
        "CLUSTER SLOTS answered) and nodetool (nodetool ring). FILE may be - for standard input.\n"
        "\n"
        "What cannot be carried over is said on standard error, line by line, and stands in the\n"
        "result as comments. Where keys would be elsewhere by it nothing is written, unless "
        "--force\n"
        "is given. docs/import.md has all rules.\n\n"
        "  clockwise import nutcracker.yml -o clockwise.yaml\n"
        "  redis-cli cluster nodes | clockwise import -\n",
    .options = options,
    .run = run_import,
};
