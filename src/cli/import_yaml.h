/*
 * YAML and JSON for the readers of import.h: a tree in which everything knows its line. JSON is
 * read into the same tree (it is YAML, almost; jansson looks first whether it is JSON), so that a
 * remark can name a line, which jansson's own values do not know.
 */
#ifndef CLI_IMPORT_YAML_H
#define CLI_IMPORT_YAML_H

#include "cli/import.h"
#include "control/yaml_tree.h"

/* NULL after the problems became remarks. The caller destroys the tree. */
struct yaml_tree *import_yaml(struct import *import, const char *text, size_t len);

/* The same for JSON in which comments may stand. */
struct yaml_tree *import_json(struct import *import, const char *text, size_t len);

#endif
