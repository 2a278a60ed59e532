/*
 * For tests of the configuration: a text in, a configuration or the lines of its problems out.
 */
#ifndef TESTS_CONTROL_CONFIG_HELPER_H
#define TESTS_CONTROL_CONFIG_HELPER_H

#include <stdio.h>
#include <string.h>

#include "control/config.h"

/* Reads a text and makes its maps. NULL when there were problems, which are then in `lines`, one a
 * line, with "f" for the file's name. */
static struct config *read_text_of(const char *text, size_t len, char *lines, size_t size)
{
    static struct problems problems;
    struct config *config = NULL;
    struct buffer out = BUFFER_INIT;
    problems_init(&problems);
    int status = config_parse(text, len, &problems, &config);
    if (status == 0 && config_make_maps(config, &problems) < 0)
        config_destroy(&config);
    problems_print(&problems, "f", &out);
    snprintf(lines, size, "%.*s", (int)out.len, out.len ? buffer_bytes(&out) : "");
    buffer_release(&out);
    return config;
}

#endif
