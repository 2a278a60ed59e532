/*
 * How a person says how fast keys may move: "auto", "off", "keys=N", "bytes=SIZE", several with
 * commas. Automatic is what is said to be: keys=1000 alone is 1000 keys a second, whatever the
 * clients feel.
 */
#ifndef CLI_APPLY_THROTTLE_H
#define CLI_APPLY_THROTTLE_H

#include <jansson.h>

#include "cli/cli.h"

#define APPLY_THROTTLE_HELP "How fast keys move, a second: keys=N,bytes=SIZE,auto; or off."

/* CLI_OK and a new reference to what the router takes, or another exit code after saying why. */
int apply_throttle_read(const struct cli_command *command, const char *text, json_t **ret_json);

#endif
