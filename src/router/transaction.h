/*
 * Transactions: what a client has said since MULTI, and what it watches. The commands are checked
 * as they come and kept, as they will be sent, until EXEC; then MULTI, the commands and EXEC go to
 * the one node that owns all their keys in one piece (exec.c), so that nothing can come in between
 * although the connection is shared. Nothing of a transaction is at a node before its EXEC.
 */
#ifndef ROUTER_TRANSACTION_H
#define ROUTER_TRANSACTION_H

#include "router/internal.h"

/* From MULTI to EXEC or DISCARD. Belongs to its client, whose `held` counts its bytes. */
struct transaction {
    bool is_open; /* MULTI was said */
    bool is_bad;  /* a command was refused: EXEC does nothing */
    bool has_key;
    uint32_t command_count;
    struct buffer commands; /* one after the other, each an array of bulk strings */
    struct buffer key;      /* the first of all its keys: the others are where this one is */
};

/* Whether a command is kept for EXEC instead of being answered now. */
static inline bool transaction_keeps(const struct client *client, const struct command *command)
{
    return __builtin_expect(client->transaction != NULL, 0) && client->transaction->is_open &&
           command->id != CMD_QUIT && command->id != CMD_RESET &&
           (command->route != COMMAND_TRANSACTION || command->id == CMD_UNWATCH);
}

/* Keeps a command, or answers why not; EXEC then does nothing. */
void transaction_keep(struct client *client, struct parsed *parsed);
/* A command was refused before it came here (`command` is NULL if it is unknown). */
void transaction_refused(struct client *client, const struct command *command);
/* MULTI, EXEC, DISCARD. False: EXEC has to wait for another state of the pool. */
bool transaction_command(struct client *client, struct parsed *parsed);
/* Forgets all of it. The client may have none. */
void transaction_end(struct client *client);

/* Checks that the keys of a command are where the transaction's are. *ret_node is that node,
 * CW_NO_NODE as long as there are no keys. False after an error was answered. */
bool transaction_find_node(struct client *client, const struct parsed *parsed, uint32_t *ret_node);

/* EXEC of an open transaction. False: it has to wait. */
bool exec_command(struct client *client);
/* The node's reply to MULTI or to a command of a transaction; to its EXEC. */
void exec_part_answered(struct worker *worker, struct request *part, const char *reply, size_t len);
void exec_answered(struct worker *worker, struct request *request, const char *reply, size_t len);

#endif
