#include "control/options.h"

#include <string.h>

#include <clockwise/clockwise.h>

#include "base/assert.h"
#include "base/suggest.h"
#include "control/config.h"

const char option_required[] = "required";

static const char *const choices_log_level[] = {"debug", "info", "warn", "error", NULL};
static const char *const choices_off[] = {"off", NULL};
static const char *const choices_engine[] = {"redis", "embedded", "memcached", "other", NULL};
static const char *const choices_placement[] = {"slots",    "ring",   "rendezvous", "jump",
                                                "jumpback", "maglev", "round",      NULL};
static const char *const choices_on_node_down[] = {"fail", "miss", "next", NULL};
static const char *const choices_durability[] = {"always", "everysec", "no", NULL};

#define SECTION(id, parent, key, shape, help)                                                      \
    {SECTION_##id, SECTION_##parent, key, SHAPE_##shape, help},
static const struct section sections[] = {
#include "control/options.def"
};

#define STRUCT_OF_TOP       struct config
#define STRUCT_OF_LOG       struct config
#define STRUCT_OF_LIMITS    struct config
#define STRUCT_OF_MOVE      struct config
#define STRUCT_OF_MAP_STORE struct config
#define STRUCT_OF_POOL      struct config_pool
#define STRUCT_OF_LISTEN    struct config_pool
#define STRUCT_OF_PROFILE   struct config_pool
#define STRUCT_OF_NODE      struct config_node
#define STRUCT_OF_COMMAND   struct config_command
#define NONE                NULL
#define REQUIRED            option_required
#define OPTION(section, key, member, type, min, max, default_text, choices, applies, help)         \
    {SECTION_##section,                                                                            \
     key,                                                                                          \
     OPTION_##type,                                                                                \
     offsetof(STRUCT_OF_##section, member),                                                        \
     min,                                                                                          \
     max,                                                                                          \
     default_text,                                                                                 \
     choices,                                                                                      \
     APPLIES_##applies,                                                                            \
     help},
static const struct option options[] = {
#include "control/options.def"
};

enum { OPTION_COUNT = sizeof options / sizeof *options };

const struct section *section_by_id(enum section_id id)
{
    CW_ASSERT(id < SECTION_COUNT);
    return &sections[id];
}

void section_path(enum section_id id, struct buffer *ret_path)
{
    const struct section *section = section_by_id(id);
    if (id == SECTION_TOP)
        return;
    section_path(section->parent, ret_path);
    if (ret_path->len)
        buffer_append_text(ret_path, ".");
    buffer_append_text(ret_path, section->key);
    if (section->shape != SHAPE_MAP)
        buffer_append_text(ret_path, ".*");
}

const struct section *section_find(enum section_id parent, const char *key)
{
    for (int i = SECTION_TOP + 1; i < SECTION_COUNT; i++)
        if (sections[i].parent == parent && strcmp(sections[i].key, key) == 0)
            return &sections[i];
    return NULL;
}

size_t option_count(void)
{
    return OPTION_COUNT;
}

const struct option *option_by_index(size_t index)
{
    CW_ASSERT(index < OPTION_COUNT);
    return &options[index];
}

const struct option *option_find(enum section_id section, const char *key)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (options[i].section == section && strcmp(options[i].key, key) == 0)
            return &options[i];
    return NULL;
}

const char *option_suggest(enum section_id section, const char *key)
{
    const char *keys[OPTION_COUNT + SECTION_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (options[i].section == section)
            keys[count++] = options[i].key;
    for (int i = SECTION_TOP + 1; i < SECTION_COUNT; i++)
        if (sections[i].parent == section)
            keys[count++] = sections[i].key;
    return suggest_nearest(key, keys, count);
}

/* Every default of the table is a value of its option; a mistake there fails the first test. */
static void store_default(const struct option *option, void *target)
{
    char message[OPTION_MESSAGE_SIZE];
    struct option_value value = {0};
    if (option->default_text && option->default_text != option_required)
        CW_ASSERT(option_convert(option, option->default_text, &value, message));
    option_store(option, &value, target);
}

void option_store_defaults(enum section_id section, void *target)
{
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (options[i].section == section)
            store_default(&options[i], target);
}

void option_store(const struct option *option, const struct option_value *value, void *section)
{
    char *member = (char *)section + option->offset;
    if (option->type == OPTION_TEXT || option->type == OPTION_ADDRESS)
        memcpy(member, &value->text, sizeof value->text);
    else
        memcpy(member, &value->number, sizeof value->number);
}
