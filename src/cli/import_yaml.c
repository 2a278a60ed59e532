#include "cli/import_yaml.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A tree with problems inside is none. */
static void take_problems(struct import *import, const struct problems *problems)
{
    for (size_t i = 0; i < problems->count; i++) {
        const struct problem *problem = &problems->items[i];
        size_t before = import->remark_count;
        import_remark(import, IMPORT_WRONG, problem->line, NULL, "%s", problem->message);
        if (import->remark_count > before)
            import->remarks[before].column = problem->column;
    }
    import->counts[IMPORT_WRONG] += problems->left_out;
}

struct yaml_tree *import_yaml(struct import *import, const char *text, size_t len)
{
    struct yaml_tree *tree = NULL;
    struct problems *problems = import_alloc(import, sizeof *problems);
    if (!problems)
        return NULL;
    problems_init(problems);
    yaml_tree_parse(text, len, problems, &tree);
    take_problems(import, problems);
    if (problems->count)
        yaml_tree_destroy(&tree);
    return tree;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* The end of what starts here: a string, a comment, or one character. */
static size_t skip(const char *text, bool *ret_is_comment)
{
    size_t len = 1;
    *ret_is_comment = text[0] == '/' && (text[1] == '/' || text[1] == '*');
    if (text[0] == '"') {
        while (text[len] && text[len] != '"')
            len += text[len] == '\\' && text[len + 1] ? 2 : 1;
        return len + (text[len] == '"');
    }
    if (!*ret_is_comment)
        return 1;
    if (text[1] == '/')
        return strcspn(text, "\n");
    const char *end = strstr(text + 2, "*/");
    return end ? (size_t)(end + 2 - text) : strlen(text);
}

/* Blanks in the place of comments and tabs: places stay what they are. */
static char *without_comments(struct import *import, const char *text, size_t len)
{
    char *copy = import_alloc(import, len + 1);
    if (!copy)
        return NULL;
    memcpy(copy, text, len);
    for (size_t at = 0; at < len;) {
        bool is_comment;
        size_t step = skip(copy + at, &is_comment);
        if (is_comment || copy[at] == '\t')
            for (size_t i = at; i < at + step; i++)
                if (copy[i] != '\n')
                    copy[i] = ' ';
        at += step;
    }
    return copy;
}

struct yaml_tree *import_json(struct import *import, const char *text, size_t len)
{
    json_error_t error;
    char *plain = without_comments(import, text, len);
    if (!plain)
        return NULL;
    json_t *json = json_loadb(plain, len, JSON_REJECT_DUPLICATES, &error);
    if (!json) {
        import_remark(import, IMPORT_WRONG, error.line > 0 ? (unsigned)error.line : 0, NULL,
                      "not JSON: %.160s", error.text);
        return NULL;
    }
    json_decref(json);
    return import_yaml(import, plain, len);
}
