/*
 * Transactions: what a client has said since MULTI, and what it watches. The commands are checked
 * as they come and kept, as they will be sent, until EXEC; then MULTI, the commands and EXEC go to
 * the one node that owns all their keys in one piece (exec.c), so that nothing can come in between
 * although the connection is shared. Nothing of a transaction is at a node before its EXEC, but for
 * WATCH: while keys are watched the client has a connection to their node for itself (watch.c).
 */
#ifndef ROUTER_TRANSACTION_H
#define ROUTER_TRANSACTION_H

#include "router/internal.h"

/* From MULTI or WATCH to EXEC or DISCARD. Belongs to its client, whose `held` counts its bytes; the
 * connection on which keys are watched is client->own. */
struct transaction {
    bool is_open;     /* MULTI was said */
    bool is_bad;      /* a command was refused: EXEC does nothing */
    bool is_watching; /* WATCH was said */
    bool is_sure;     /* the node has answered that keys are watched */
    bool is_lost; /* but nobody knows any more whether the keys were written: EXEC answers nil */
    bool is_over; /* EXEC is under way on client->own; what is behind it waits */
    bool has_key;
    struct cw_map *map; /* while watching: the one under which WATCH was sent */
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

/* How many commands are kept; -1: no MULTI was said. */
static inline int transaction_length(const struct client *client)
{
    bool is_open = client->transaction && client->transaction->is_open;
    return is_open ? (int)client->transaction->command_count : -1;
}

/* Keeps a command, or answers why not; EXEC then does nothing. */
void transaction_keep(struct client *client, struct parsed *parsed);
/* A command was refused before it came here (`command` is NULL if it is unknown). */
void transaction_refused(struct client *client, const struct command *command);
/* MULTI, EXEC, DISCARD, WATCH, UNWATCH. False: it has to wait. */
bool transaction_command(struct client *client, struct parsed *parsed);
/* Whether a command may be looked at now: the client has a transaction, and what takes its
 * connection away, or would overtake what is under way there, waits until all before it is
 * answered. */
bool transaction_lets_go_on(struct client *client, const struct command *command);
/* The client's transaction, which is made if there is none. NULL after an error was answered
 * with which the client ends. */
struct transaction *transaction_borrow(struct client *client);
/* Forgets all of it, what is watched too. The client may have none. */
void transaction_end(struct client *client);

/* Checks that the keys of a command are where the transaction's are. *ret_node is that node,
 * CW_NO_NODE as long as there are no keys. False after an error was answered. */
bool transaction_find_node(struct client *client, const struct parsed *parsed, uint32_t *ret_node);

/* EXEC of an open transaction. False: it has to wait. */
bool exec_command(struct client *client);
/* The node's reply to MULTI or to a command of a transaction; to its EXEC. */
void exec_part_answered(struct worker *worker, struct request *part, const char *reply, size_t len);
void exec_answered(struct worker *worker, struct request *request, const char *reply, size_t len);

/* WATCH of a client that is in no MULTI. False: it has to wait. */
bool watch_command(struct client *client, struct parsed *parsed);
/* The node's reply to it. */
void watch_answered(struct worker *worker, struct request *request, const char *reply, size_t len);
/* Whether what is watched would be known to have been written. */
bool watch_is_whole(const struct client *client);
/* Gives the connection back, with nothing watched there; if the client still watches, EXEC will
 * answer nil. Fine without any. */
void watch_give_back(struct client *client);

#endif
