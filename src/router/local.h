/* The commands that the router answers itself, as its files share them. */
#ifndef ROUTER_LOCAL_H
#define ROUTER_LOCAL_H

#include "router/internal.h"

/* Whether a text is a word, in any case. */
bool word_is(struct slice text, const char *word);
void client_ok(struct client *client);
/* Sets a client's name of some kind. NULL, or the error. */
const char *set_name(char *name, struct slice text);

void local_command(struct client *client, const struct parsed *parsed);
void client_command(struct client *client, const struct parsed *parsed);
void command_command(struct client *client, const struct parsed *parsed);
void info_command(struct client *client, const struct parsed *parsed);
void scan_command(struct client *client, const struct parsed *parsed);
void scan_answered(struct worker *worker, struct request *request, const char *reply, size_t len);

#endif
