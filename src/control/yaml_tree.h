/*
 * A YAML text as a tree in which everything knows its line and column, and every scalar is text:
 * what "no", "0x10" or "1e3" means is decided by whoever reads the tree, not by YAML.
 *
 * Of YAML it takes what configurations use: one document of maps, lists and scalars. Anchors,
 * aliases (and with them the billion laughs), tags and complex keys are problems, and so are a key
 * that stands twice, a tab where blanks must be, and more depth, keys or values than the bounds
 * below. The parser is libyaml's.
 */
#ifndef CONTROL_YAML_TREE_H
#define CONTROL_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "control/problems.h"

enum {
    YAML_TREE_DEPTH_MAX = 16,
    YAML_TREE_KEYS_MAX = 1024,     /* in one map */
    YAML_TREE_NODES_MAX = 2000000, /* keys and values in all */
};

enum yaml_kind { YAML_KIND_SCALAR, YAML_KIND_MAP, YAML_KIND_LIST };

struct yaml_node {
    enum yaml_kind kind;
    bool is_plain;  /* a scalar without quotes */
    bool is_broken; /* a problem was already reported here: say nothing more */
    unsigned line, column;
    unsigned child_count;
    const char *text;               /* of scalars; without NUL bytes inside */
    struct yaml_node *value;        /* of a map's key: what belongs to it */
    struct yaml_node *first, *last; /* of maps: keys; of lists: values */
    struct yaml_node *next;
};

struct yaml_tree;

/* Reads a text; problems are added to the list. 0 when there is a tree (maybe with problems inside,
 * which the list then has), -EINVAL when there is none, -ENOMEM. The root is NULL for a text
 * without any value. */
int yaml_tree_parse(const char *text, size_t len, struct problems *problems,
                    struct yaml_tree **ret_tree);
void yaml_tree_destroy(struct yaml_tree **tree);
const struct yaml_node *yaml_tree_root(const struct yaml_tree *tree);
/* Memory that lives as long as the tree; NULL when memory is out. */
void *yaml_tree_alloc(struct yaml_tree *tree, size_t size);

/* The key of this name in a map, or NULL. `map` may be NULL or no map. */
const struct yaml_node *yaml_find_key(const struct yaml_node *map, const char *name);
/* "a map", "a list", "a value", "nothing" */
const char *yaml_kind_name(const struct yaml_node *node);
/* Whether nothing was written: a plain scalar of no length. */
bool yaml_is_empty(const struct yaml_node *node);

#endif
