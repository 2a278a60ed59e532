/*
 * The router as a program: starts everything that a configuration asks for, says where it is, waits
 * for a signal and ends cleanly.
 */
#ifndef CONTROL_SERVE_H
#define CONTROL_SERVE_H

#include "control/config.h"

enum { SERVE_MESSAGE_SIZE = 1200 };

/* Serves until SIGINT, SIGTERM or SIGHUP; a second signal ends the process at once. The
 * configuration is checked and has its maps. 0, or a negative errno with a sentence when it could
 * not start; nothing is left half-open then. */
int serve_run(const struct config *config, char ret_message[static SERVE_MESSAGE_SIZE]);

#endif
