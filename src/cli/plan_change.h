/*
 * The changes of a pool's nodes that `clockwise plan` and `clockwise compare` are asked about, in
 * the order in which they were typed.
 */
#ifndef CLI_PLAN_CHANGE_H
#define CLI_PLAN_CHANGE_H

#include <clockwise/profile.h>

#include "cli/cli.h"

struct node_list {
    struct cw_node *nodes; /* the strings are others' */
    /* What another system makes of each, where the map is of a profile; else NULL. */
    struct cw_profile_node *servers;
    size_t count, capacity;
    struct buffer *texts; /* what was cut out of arguments; count_texts of them */
    size_t text_count;
};

/* The nodes of a map, which must outlive the list; none for NULL. CLI_OK or CLI_FAILED. */
int node_list_init(struct node_list *list, const struct cw_map *map, size_t more_max);
void node_list_release(struct node_list *list);

/* ID[=ADDRESS][,weight=W][,zone=Z] (and with a profile name=N, number=N, server=TEXT and down), ID,
 * ID=W, and ID=NAME. Each CLI_OK, or another exit code after saying why. */
int node_list_add(struct node_list *list, const struct cli_command *command, const char *text);
int node_list_remove(struct node_list *list, const struct cli_command *command, const char *id);
int node_list_weigh(struct node_list *list, const struct cli_command *command, const char *text);
int node_list_rename(struct node_list *list, const struct cli_command *command, const char *text);

#endif
