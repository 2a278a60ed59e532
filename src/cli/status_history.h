/*
 * clockwise status --history: the journal of a pool.
 */
#ifndef CLI_STATUS_HISTORY_H
#define CLI_STATUS_HISTORY_H

#include "cli/cli.h"

/* Asks the router that the options name, and prints. An exit code. */
int status_history(const struct cli_args *args);

#endif
