#include "control/yaml_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* Nodes and texts come from chunks that are freed together. */
struct chunk {
    struct chunk *next;
    size_t used, size;
    max_align_t bytes[];
};

enum { CHUNK_SIZE = 16 << 10 };

struct yaml_tree {
    struct chunk *chunks;
    struct yaml_node *root;
};

/* An open map or list, and of a map the key that waits for its value. */
struct frame {
    struct yaml_node *node, *key;
};

struct reading {
    struct yaml_tree *tree;
    struct problems *problems;
    const char *text;
    size_t len;
    struct frame frames[YAML_TREE_DEPTH_MAX];
    unsigned depth;
    unsigned node_count;
    bool document_seen, end_seen;
};

void *yaml_tree_alloc(struct yaml_tree *tree, size_t size)
{
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    struct chunk *chunk = tree->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t chunk_size = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        chunk = malloc(sizeof *chunk + chunk_size);
        if (!chunk)
            return NULL;
        *chunk = (struct chunk){tree->chunks, 0, chunk_size};
        tree->chunks = chunk;
    }
    void *place = (char *)chunk->bytes + chunk->used;
    chunk->used += size;
    return memset(place, 0, size);
}

static void problem_at(struct reading *reading, const yaml_mark_t *mark, const char *message)
{
    problems_add(reading->problems, (unsigned)mark->line + 1, (unsigned)mark->column + 1, "%s",
                 message);
}

/* ---- building -------------------------------------------------------------------------------- */

static struct yaml_node *make_node(struct reading *reading, enum yaml_kind kind,
                                   const yaml_mark_t *mark)
{
    struct yaml_node *node = yaml_tree_alloc(reading->tree, sizeof *node);
    if (!node)
        return NULL;
    node->kind = kind;
    node->line = (unsigned)mark->line + 1;
    node->column = (unsigned)mark->column + 1;
    node->text = "";
    return node;
}

static void append_child(struct yaml_node *parent, struct yaml_node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
    parent->child_count++;
}

static int take_key(struct reading *reading, struct frame *frame, struct yaml_node *key)
{
    const struct yaml_node *before;
    if (key->kind != YAML_KIND_SCALAR) {
        problems_add(reading->problems, key->line, key->column, "a key must be a word, not %s",
                     yaml_kind_name(key));
        return -EINVAL;
    }
    if (frame->node->child_count == YAML_TREE_KEYS_MAX) {
        problems_add(reading->problems, key->line, key->column,
                     "more than %d keys in one map; use fewer", YAML_TREE_KEYS_MAX);
        return -EINVAL;
    }
    if ((before = yaml_find_key(frame->node, key->text))) {
        problems_add(reading->problems, key->line, key->column,
                     "'%.60s' is here a second time; the first is in line %u", key->text,
                     before->line);
        key->is_broken = true;
    }
    frame->key = key;
    append_child(frame->node, key);
    return 0;
}

/* Puts a new node where it belongs: the root, an item of a list, a key of a map, or its value. */
static int place_node(struct reading *reading, struct yaml_node *node)
{
    if (++reading->node_count > YAML_TREE_NODES_MAX) {
        problems_add(reading->problems, node->line, node->column,
                     "more than %d values in one file; use fewer", YAML_TREE_NODES_MAX);
        return -EINVAL;
    }
    if (reading->depth == 0) {
        reading->tree->root = node;
        return 0;
    }
    struct frame *frame = &reading->frames[reading->depth - 1];
    if (frame->node->kind == YAML_KIND_LIST) {
        append_child(frame->node, node);
        return 0;
    }
    if (!frame->key)
        return take_key(reading, frame, node);
    frame->key->value = node;
    frame->key = NULL;
    return 0;
}

static int open_node(struct reading *reading, struct yaml_node *node)
{
    int status = place_node(reading, node);
    if (status < 0)
        return status;
    if (reading->depth == YAML_TREE_DEPTH_MAX) {
        problems_add(reading->problems, node->line, node->column,
                     "maps and lists are nested more than %d deep", YAML_TREE_DEPTH_MAX);
        return -EINVAL;
    }
    reading->frames[reading->depth++] = (struct frame){node, NULL};
    return 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Anchors and tags would make the meaning of a value depend on something elsewhere. */
static void refuse_properties(struct reading *reading, const yaml_event_t *event,
                              const yaml_char_t *anchor, const yaml_char_t *tag)
{
    if (anchor)
        problem_at(reading, &event->start_mark,
                   "anchors (&name) are not supported; write the value where it is used");
    if (tag)
        problem_at(reading, &event->start_mark, "tags (!name) are not supported; leave it out");
}

static int take_scalar(struct reading *reading, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    struct yaml_node *node = make_node(reading, YAML_KIND_SCALAR, &event->start_mark);
    char *copy = yaml_tree_alloc(reading->tree, len + 1);
    if (!node || !copy)
        return -ENOMEM;
    memcpy(copy, text, len);
    node->text = copy;
    node->is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (memchr(text, 0, len)) {
        problem_at(reading, &event->start_mark, "a NUL byte in a value");
        node->is_broken = true;
    }
    refuse_properties(reading, event, event->data.scalar.anchor, event->data.scalar.tag);
    return place_node(reading, node);
}

static int take_alias(struct reading *reading, const yaml_event_t *event)
{
    struct yaml_node *node = make_node(reading, YAML_KIND_SCALAR, &event->start_mark);
    if (!node)
        return -ENOMEM;
    node->is_broken = true;
    problem_at(reading, &event->start_mark,
               "aliases (*name) are not supported; write the value out");
    return place_node(reading, node);
}

static int take_open(struct reading *reading, const yaml_event_t *event)
{
    bool is_map = event->type == YAML_MAPPING_START_EVENT;
    if (is_map)
        refuse_properties(reading, event, event->data.mapping_start.anchor,
                          event->data.mapping_start.tag);
    else
        refuse_properties(reading, event, event->data.sequence_start.anchor,
                          event->data.sequence_start.tag);
    struct yaml_node *node = make_node(reading, is_map ? YAML_KIND_MAP : YAML_KIND_LIST,
                                       &event->start_mark);
    return node ? open_node(reading, node) : -ENOMEM;
}

static int take_document(struct reading *reading, const yaml_event_t *event)
{
    if (reading->document_seen) {
        problem_at(reading, &event->start_mark, "a second document; a file has one");
        return -EINVAL;
    }
    reading->document_seen = true;
    return 0;
}

static int take_event(struct reading *reading, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT: return take_scalar(reading, event);
    case YAML_ALIAS_EVENT: return take_alias(reading, event);
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT: return take_open(reading, event);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT: reading->depth--; return 0;
    case YAML_DOCUMENT_START_EVENT: return take_document(reading, event);
    case YAML_STREAM_END_EVENT: reading->end_seen = true; return 0;
    default: return 0;
    }
}

/* ---- errors of the parser -------------------------------------------------------------------- */

static yaml_mark_t mark_of_offset(const struct reading *reading, size_t offset)
{
    yaml_mark_t mark = {offset, 0, 0};
    for (size_t i = 0; i < offset && i < reading->len; i++) {
        mark.column++;
        if (reading->text[i] == '\n') {
            mark.line++;
            mark.column = 0;
        }
    }
    return mark;
}

/* Whether the line up to a mark has a tab among the blanks in front: the likeliest mistake, which
 * YAML's own message does not name. */
static bool is_behind_tab(const struct reading *reading, const yaml_mark_t *mark)
{
    size_t line = 0, start = 0, i;
    for (i = 0; i < reading->len && line < mark->line; i++)
        if (reading->text[i] == '\n') {
            line++;
            start = i + 1;
        }
    for (i = start; i < reading->len && strchr(" \t-", reading->text[i]) && reading->text[i]; i++)
        if (reading->text[i] == '\t')
            return true;
    return false;
}

static int explain_parser_error(struct reading *reading, const yaml_parser_t *parser)
{
    if (parser->error == YAML_MEMORY_ERROR)
        return -ENOMEM;
    if (parser->error == YAML_READER_ERROR) {
        yaml_mark_t mark = mark_of_offset(reading, parser->problem_offset);
        problem_at(reading, &mark,
                   "not text: a control character or a byte that is not UTF-8; is this YAML?");
    } else if (is_behind_tab(reading, &parser->problem_mark)) {
        problem_at(reading, &parser->problem_mark, "a tab; YAML is indented with blanks");
    } else {
        problems_add(reading->problems, (unsigned)parser->problem_mark.line + 1,
                     (unsigned)parser->problem_mark.column + 1, "not YAML: %s%s%s",
                     parser->problem ? parser->problem : "?", parser->context ? " " : "",
                     parser->context ? parser->context : "");
    }
    return -EINVAL;
}

static int read_events(struct reading *reading, yaml_parser_t *parser)
{
    while (!reading->end_seen) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event))
            return explain_parser_error(reading, parser);
        int status = take_event(reading, &event);
        yaml_event_delete(&event);
        if (status < 0)
            return status;
    }
    return 0;
}

static int read_text(struct reading *reading)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser))
        return -ENOMEM;
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)reading->text, reading->len);
    int status = read_events(reading, &parser);
    yaml_parser_delete(&parser);
    return status;
}

int yaml_tree_parse(const char *text, size_t len, struct problems *problems,
                    struct yaml_tree **ret_tree)
{
    static const char byte_order_mark[] = "\xef\xbb\xbf";
    if (len >= 3 && memcmp(text, byte_order_mark, 3) == 0) {
        text += 3;
        len -= 3;
    }
    struct yaml_tree *tree = calloc(1, sizeof *tree);
    struct reading reading = {.tree = tree, .problems = problems, .text = text, .len = len};
    int status = tree ? read_text(&reading) : -ENOMEM;
    if (status == -ENOMEM)
        problems_add(problems, 0, 0, "out of memory");
    if (status < 0) {
        yaml_tree_destroy(&tree);
        return status;
    }
    *ret_tree = tree;
    return 0;
}

void yaml_tree_destroy(struct yaml_tree **tree)
{
    if (!*tree)
        return;
    for (struct chunk *chunk = (*tree)->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    free(*tree);
    *tree = NULL;
}

const struct yaml_node *yaml_tree_root(const struct yaml_tree *tree)
{
    return tree->root;
}

const struct yaml_node *yaml_find_key(const struct yaml_node *map, const char *name)
{
    if (!map || map->kind != YAML_KIND_MAP)
        return NULL;
    for (const struct yaml_node *key = map->first; key; key = key->next)
        if (strcmp(key->text, name) == 0)
            return key;
    return NULL;
}

const char *yaml_kind_name(const struct yaml_node *node)
{
    if (yaml_is_empty(node))
        return "nothing";
    return node->kind == YAML_KIND_MAP    ? "a map"
           : node->kind == YAML_KIND_LIST ? "a list"
                                          : "a value";
}

bool yaml_is_empty(const struct yaml_node *node)
{
    return node->kind == YAML_KIND_SCALAR && node->is_plain && node->text[0] == 0;
}
