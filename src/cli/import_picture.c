#include "cli/import.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nodes and texts come from chunks that are freed together. */
struct import_chunk {
    struct import_chunk *next;
    size_t used, size;
    max_align_t bytes[];
};

enum { CHUNK_SIZE = 64 << 10, POOL_NAME_LEN_MAX = 63, REMARK_SIZE = 1024 };

void import_init(struct import *import, const char *text, size_t len)
{
    memset(import, 0, sizeof *import);
    import->text = text;
    import->len = len;
}

void import_fini(struct import *import)
{
    for (struct import_chunk *chunk = import->chunks, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    for (size_t i = 0; i < import->pool_count; i++) {
        free(import->pools[i].nodes);
        free(import->pools[i].ids);
    }
    free(import->pools);
    memset(import, 0, sizeof *import);
}

/* ---- texts ----------------------------------------------------------------------------------- */

void *import_alloc(struct import *import, size_t size)
{
    size = (size + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    struct import_chunk *chunk = import->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t chunk_size = size > CHUNK_SIZE ? size : CHUNK_SIZE;
        chunk = malloc(sizeof *chunk + chunk_size);
        if (!chunk) {
            import->no_memory = true;
            return NULL;
        }
        *chunk = (struct import_chunk){import->chunks, 0, chunk_size};
        import->chunks = chunk;
    }
    void *place = (char *)chunk->bytes + chunk->used;
    chunk->used += size;
    return memset(place, 0, size);
}

const char *import_text_of(struct import *import, const char *text, size_t len)
{
    char *copy = import_alloc(import, len + 1);
    if (!copy)
        return "";
    memcpy(copy, text, len);
    return copy;
}

const char *import_text(struct import *import, const char *text)
{
    return text ? import_text_of(import, text, strlen(text)) : "";
}

static const char *text_of_list(struct import *import, const char *format, va_list args)
{
    char text[REMARK_SIZE];
    int len = vsnprintf(text, sizeof text, format, args);
    return len < 0 ? "" : import_text(import, text);
}

const char *import_textf(struct import *import, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *text = text_of_list(import, format, args);
    va_end(args);
    return text;
}

/* ---- remarks --------------------------------------------------------------------------------- */

/* What is told must not be lost to what matters less: the last remark of least weight makes room.
 */
static struct import_remark *place_of_remark(struct import *import, enum import_weight weight)
{
    if (import->remark_count < IMPORT_REMARK_COUNT_MAX)
        return &import->remarks[import->remark_count++];
    for (size_t i = import->remark_count; i-- > 0;) {
        if (import->remarks[i].weight >= weight)
            continue;
        size_t behind = import->remark_count - i - 1;
        memmove(&import->remarks[i], &import->remarks[i + 1], behind * sizeof *import->remarks);
        return &import->remarks[import->remark_count - 1];
    }
    return NULL;
}

void import_remark(struct import *import, enum import_weight weight, unsigned line,
                   const char *option, const char *format, ...)
{
    import->counts[weight]++;
    struct import_remark *remark = place_of_remark(import, weight);
    if (!remark)
        return;
    va_list args;
    va_start(args, format);
    const char *text = text_of_list(import, format, args);
    va_end(args);
    if (option)
        text = import_textf(import, "option '%.60s': %s", option, text);
    *remark = (struct import_remark){weight, line, 0, text};
}

/* ---- pools ----------------------------------------------------------------------------------- */

static bool is_pool_name_taken(const struct import *import, const char *name)
{
    for (size_t i = 0; i < import->pool_count; i++)
        if (strcmp(import->pools[i].name, name) == 0)
            return true;
    return false;
}

/* Letters, digits and . _ - and no dot in front; other characters become '-'. */
static const char *fit_pool_name(struct import *import, const char *name)
{
    char fit[POOL_NAME_LEN_MAX + 1] = "pool";
    size_t len = strnlen(name, POOL_NAME_LEN_MAX - 8); /* room for a number behind */
    for (size_t i = 0; i < len; i++) {
        bool is_good = isalnum((unsigned char)name[i]) || strchr("_-.", name[i]);
        fit[i] = is_good && (i > 0 || name[i] != '.') ? name[i] : '-';
        fit[i + 1] = 0;
    }
    const char *unique = import_text(import, fit);
    for (unsigned i = 2; is_pool_name_taken(import, unique) && !import->no_memory; i++)
        unique = import_textf(import, "%s-%u", fit, i);
    return unique;
}

struct import_pool *import_add_pool(struct import *import, const char *name, unsigned line,
                                    const char *profile)
{
    if (import->pool_count == IMPORT_POOL_COUNT_MAX) {
        import_remark(import, IMPORT_WRONG, line, NULL,
                      "more than %d pools: a configuration of clockwise has no more; cut the file "
                      "in parts",
                      IMPORT_POOL_COUNT_MAX);
        return NULL;
    }
    if (!import->pools)
        import->pools = calloc(IMPORT_POOL_COUNT_MAX, sizeof *import->pools);
    if (!import->pools) {
        import->no_memory = true;
        return NULL;
    }
    const char *fit = fit_pool_name(import, name);
    if (strcmp(fit, name) != 0)
        import_remark(import, IMPORT_NOTE, line, NULL,
                      "pool '%.60s' is called '%s' here: names are letters, digits and . _ -", name,
                      fit);
    struct import_pool *pool = &import->pools[import->pool_count++];
    *pool = (struct import_pool){
        .line = line, .name = fit, .profile = profile ? cw_profile_find(profile) : NULL};
    return pool;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

/* Where the id stands in the pool's index, or would. */
static uint32_t *find_id(const struct import_pool *pool, const char *id)
{
    size_t mask = pool->ids_size - 1, at = cw_hash(id, strlen(id)) & mask;
    while (pool->ids[at] && strcmp(pool->nodes[pool->ids[at] - 1].id, id) != 0)
        at = (at + 1) & mask;
    return &pool->ids[at];
}

/* Room for one more node, and at least twice as many places in the index as nodes. */
static bool make_node_room(struct import_pool *pool)
{
    if (pool->node_count < pool->node_room)
        return true;
    size_t room = pool->node_room ? pool->node_room * 2 : 16;
    struct import_node *nodes = realloc(pool->nodes, room * sizeof *nodes);
    if (!nodes)
        return false;
    pool->nodes = nodes;
    uint32_t *ids = calloc(room * 2, sizeof *ids);
    if (!ids)
        return false;
    free(pool->ids);
    pool->ids = ids;
    pool->ids_size = room * 2;
    pool->node_room = room;
    for (size_t i = 0; i < pool->node_count; i++)
        *find_id(pool, pool->nodes[i].id) = (uint32_t)i + 1;
    return true;
}

/* As cw_map_create() wants them, and nothing that YAML would make something else of. */
static bool is_id(const char *text)
{
    size_t len = text ? strlen(text) : 0;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr("._-:@/[]", text[i]))
            return false;
    return len > 0 && len <= CW_ID_LEN_MAX;
}

static const char *make_id(struct import *import, const struct import_pool *pool,
                           const struct import_node *node)
{
    const char *id = is_id(node->id)           ? import_text(import, node->id)
                     : is_id(node->place.name) ? import_text(import, node->place.name)
                     : is_id(node->address)
                         ? import_text(import, node->address)
                         : import_textf(import, "node-%zu", pool->node_count + 1);
    if (*find_id(pool, id) == 0)
        return id;
    size_t keep = strnlen(id, CW_ID_LEN_MAX - 8);
    const char *unique = id;
    for (size_t i = pool->node_count + 1; *find_id(pool, unique) && !import->no_memory; i++)
        unique = import_textf(import, "%.*s-%zu", (int)keep, id, i);
    return unique;
}

bool import_add_node(struct import *import, struct import_pool *pool,
                     const struct import_node *node)
{
    if (pool->node_count == CW_NODE_COUNT_MAX) {
        import_remark(import, IMPORT_WRONG, node->line, NULL,
                      "more than %u servers in one pool; a pool of clockwise has no more",
                      CW_NODE_COUNT_MAX);
        return false;
    }
    if (!make_node_room(pool)) {
        import->no_memory = true;
        return false;
    }
    struct import_node *copy = &pool->nodes[pool->node_count];
    *copy = *node;
    copy->id = make_id(import, pool, node);
    copy->address = import_text(import, node->address);
    copy->place.address = import_text(import, node->place.address);
    copy->place.name = node->place.name ? import_text(import, node->place.name) : NULL;
    *find_id(pool, copy->id) = (uint32_t)pool->node_count + 1;
    pool->node_count++;
    return !import->no_memory;
}

/* ---- small things ---------------------------------------------------------------------------- */

const char *import_address(struct import *import, const char *host, const char *port)
{
    bool is_bare_v6 = strchr(host, ':') && host[0] != '[';
    return import_textf(import, is_bare_v6 ? "[%.255s]:%.5s" : "%.255s:%.5s", host, port);
}

bool import_number(const char *text, uint64_t max, uint64_t *ret_number)
{
    uint64_t number = 0;
    if (!*text)
        return false;
    for (; *text; text++) {
        if (!isdigit((unsigned char)*text))
            return false;
        number = number * 10 + (unsigned)(*text - '0');
        if (number > max)
            return false;
    }
    *ret_number = number;
    return true;
}

bool import_has_hash(const struct cw_profile *profile, const char *name)
{
    const char *hash;
    for (size_t i = 0; (hash = cw_profile_hash_at(profile, i)) != NULL; i++)
        if (strcmp(hash, name) == 0)
            return true;
    return false;
}
