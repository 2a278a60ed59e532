/*
 * What is looked at before anything is opened, so that a router that cannot start says why at once
 * and leaves nothing behind.
 */
#ifndef CONTROL_PREFLIGHT_H
#define CONTROL_PREFLIGHT_H

#include <stddef.h>

#include "control/config.h"

/* Whether every address that will be listened on is free. 0, or a negative errno with a sentence.
 */
int preflight_addresses(const struct config *config, char *ret_message, size_t message_size);

/* Raises the limit of open files to what the configuration may need. 0, or -1 with a sentence when
 * the limit stays too low. */
int preflight_files(const struct config *config, char *ret_message, size_t message_size);

/* "cannot listen on ADDRESS: why; remedy" */
void preflight_explain_listen(const char *address, int error, const char *key, char *ret_message,
                              size_t message_size);

#endif
