#include "cli/apply_throttle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "control/options.h"

enum { PART_LEN_MAX = 40 };

static int read_limit(const struct cli_command *command, enum option_type type, const char *name,
                      const char *text, json_t *throttle)
{
    const struct option option = {.key = name, .type = type, .min = 1, .max = INT64_C(1) << 50};
    struct option_value value = {0};
    char message[OPTION_MESSAGE_SIZE];
    if (!option_convert(&option, text, &value, message))
        return cli_usage(command, "throttle %s=%s: %s", name, text, message);
    json_object_set_new(throttle, type == OPTION_SIZE ? "bytes_per_second" : "keys_per_second",
                        json_integer((json_int_t)value.number));
    return CLI_OK;
}

static int read_part(const struct cli_command *command, const char *part, json_t *throttle)
{
    if (strcmp(part, "auto") == 0) {
        json_object_set_new(throttle, "automatic", json_true());
        return CLI_OK;
    }
    if (strcmp(part, "off") == 0)
        return CLI_OK;
    if (strncmp(part, "keys=", 5) == 0)
        return read_limit(command, OPTION_INTEGER, "keys", part + 5, throttle);
    if (strncmp(part, "bytes=", 6) == 0)
        return read_limit(command, OPTION_SIZE, "bytes", part + 6, throttle);
    return cli_usage(command, "throttle '%s': use auto, off, keys=N or bytes=SIZE, with commas",
                     part);
}

int apply_throttle_read(const struct cli_command *command, const char *text, json_t **ret_json)
{
    json_t *throttle = json_pack("{s:b}", "automatic", 0);
    int status = throttle ? CLI_OK : cli_fail("out of memory");
    for (const char *part = text; status == CLI_OK && part;) {
        char copy[PART_LEN_MAX + 1];
        const char *end = strchr(part, ',');
        snprintf(copy, sizeof copy, "%.*s", end ? (int)(end - part) : PART_LEN_MAX, part);
        status = read_part(command, copy, throttle);
        part = end ? end + 1 : NULL;
    }
    if (status == CLI_OK)
        *ret_json = throttle;
    else
        json_decref(throttle);
    return status;
}
