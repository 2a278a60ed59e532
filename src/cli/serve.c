/*
 * clockwise serve: reads the configuration, lays the command line over it, and hands it on.
 */
#include "control/serve.h"

#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "control/options.h"

static int print_problems(const struct problems *problems, const char *name)
{
    struct buffer out = BUFFER_INIT;
    problems_print(problems, name, &out);
    if (out.len)
        fwrite(buffer_bytes(&out), 1, out.len, stderr);
    buffer_release(&out);
    return CLI_FAILED;
}

/* ---- options over the file ------------------------------------------------------------------- */

/* Options of the command line that are keys of the configuration too. */
static const struct {
    const char *name, *key;
    enum section_id section;
} overrides[] = {
    {"data-dir", "data_dir", SECTION_TOP},   {"admin", "admin", SECTION_TOP},
    {"map-store", "map_store", SECTION_TOP}, {"workers", "workers", SECTION_TOP},
    {"listen", "listen", SECTION_POOL},
};

static int override(const struct cli_args *args, struct config *config, size_t index)
{
    char message[OPTION_MESSAGE_SIZE];
    struct option_value value = {0};
    const char *name = overrides[index].name, *text = cli_value(args, name);
    const struct option *option = option_find(overrides[index].section, overrides[index].key);
    bool is_of_pool = overrides[index].section == SECTION_POOL;
    if (!text)
        return CLI_OK;
    if (is_of_pool && config->pool_count != 1)
        return cli_usage(args->command, "--%s: there are %zu pools; write it into the file", name,
                         config->pool_count);
    if (!option_convert(option, text, &value, message))
        return cli_usage(args->command, "--%s: %s", name, message);
    option_store(option, &value, is_of_pool ? (void *)config->pools : (void *)config);
    return CLI_OK;
}

static int override_all(const struct cli_args *args, struct config *config)
{
    int status = CLI_OK;
    for (size_t i = 0; i < sizeof overrides / sizeof *overrides && status == CLI_OK; i++)
        status = override(args, config, i);
    return status;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int read_config(const char *file, struct config **ret_config)
{
    struct problems problems;
    problems_init(&problems);
    if (!file) {
        *ret_config = config_default();
        return *ret_config ? CLI_OK : cli_fail("out of memory");
    }
    if (config_read(file, &problems, ret_config) < 0)
        return print_problems(&problems, file);
    (*ret_config)->path = file;
    return CLI_OK;
}

static int finish_config(const char *name, struct config *config)
{
    struct problems problems;
    problems_init(&problems);
    if (config_check(config, &problems) < 0 || config_check_served(config, &problems) < 0 ||
        config_make_maps(config, &problems) < 0)
        return print_problems(&problems, name);
    return CLI_OK;
}

static int check_or_serve(const struct cli_args *args, const char *name,
                          const struct config *config)
{
    char message[SERVE_MESSAGE_SIZE] = "";
    if (cli_has(args, "check")) {
        printf("%s: ok\n", name);
        return cli_finish_output();
    }
    return serve_run(config, message) < 0 ? cli_fail("%s", message) : CLI_OK;
}

static int run(const struct cli_args *args)
{
    const char *file = cli_value(args, "config");
    const char *name = file ? file : "the default configuration";
    struct config *config = NULL;
    int status = read_config(file, &config);
    if (status == CLI_OK)
        status = override_all(args, config);
    if (status == CLI_OK)
        status = finish_config(name, config);
    if (status == CLI_OK)
        status = check_or_serve(args, name, config);
    config_destroy(&config);
    return status;
}

static const struct cli_option options[] = {
    {"config", 'c', "FILE", "Read the configuration; without it, three embedded nodes."},
    {"data-dir", 'd', "FOLDER", "Where embedded nodes keep their data (data_dir)."},
    {"listen", 'l', "ADDRESS", "Where Redis clients are served (listen of the only pool)."},
    {"admin", 0, "ADDRESS", "Where status and metrics are served (admin); off: nowhere."},
    {"map-store", 0, "FOLDER", "Where maps are kept (map_store); off: nowhere."},
    {"workers", 'w', "N", "Threads that serve clients (workers)."},
    {"check", 0, NULL, "Read the configuration, say ok or what is wrong, and end."},
    {NULL, 0, NULL, NULL},
};

const struct cli_command command_serve = {
    .name = "serve",
    .operands = "",
    .summary = "Run the router.",
    .details = "Without a configuration it starts three embedded nodes that keep their data in "
               "./clockwise-data,\nserves Redis clients on 127.0.0.1:7400 and status on "
               "127.0.0.1:7480. It ends cleanly on Ctrl-C or\nSIGTERM; a second one ends it at "
               "once. The log goes to standard error.\n",
    .options = options,
    .run = run,
};
