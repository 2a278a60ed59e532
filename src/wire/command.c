/*
 * The table and the way into it: open addressing over the name's first and last eight bytes folded
 * to upper case, which is the whole name up to sixteen bytes. A lookup is two loads, two
 * multiplications and, but for collisions, one probe; no byte of the name is looked at singly.
 */
#include "wire/command.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/assert.h"

enum { READ = COMMAND_READ, WRITE = COMMAND_WRITE, FAST = COMMAND_FAST };
enum { BLOCKING = COMMAND_BLOCKING, EMBEDDED = COMMAND_EMBEDDED };
enum { DENYOOM = COMMAND_DENYOOM, ADMIN = COMMAND_ADMIN };

enum {
    DECLARED_MAX = 256,
    NAME_LEN_MAX = 64,
    SLOT_BITS = 10,
    SLOT_COUNT = 1 << SLOT_BITS,
};

static_assert((COMMAND_COUNT + DECLARED_MAX) * 3 / 2 < SLOT_COUNT, "probes have to stay short");

static const struct command rows[COMMAND_COUNT] = {
#define COMMAND(id_, name_, arity_, flags_, route_, merge_, keys_, first_, last_, step_, group_,   \
                since_, summary_)                                                                  \
    {.name = name_,                                                                                \
     .arity = arity_,                                                                              \
     .flags = flags_,                                                                              \
     .route = COMMAND_##route_,                                                                    \
     .merge = MERGE_##merge_,                                                                      \
     .keys = KEYS_##keys_,                                                                         \
     .first = first_,                                                                              \
     .last = last_,                                                                                \
     .step = step_,                                                                                \
     .id = CMD_##id_,                                                                              \
     .group = group_,                                                                              \
     .since = since_,                                                                              \
     .summary = summary_},
#include "wire/commands.def"
#undef COMMAND
};

/* What a name of some length is compared by: equal names in any case have equal keys, and the
 * reverse holds but for a few control bytes and long names, which is_same_name() tells apart. */
struct name_key {
    uint64_t head, tail;
};

struct slot {
    uint64_t head, tail;
    const struct command *command; /* NULL: free */
    uint32_t len;
    bool is_plain; /* letters only, at most 16: the key is the whole truth */
};

static_assert(sizeof(struct slot) == 32, "two slots a cache line");

static struct command declared[DECLARED_MAX];
static size_t declared_count;
static struct slot slots[SLOT_COUNT];

/* Clears the bit by which lower and upper case differ, in the letters and in whatever else is
 * there: '_' stays, digits and '.' become control bytes on both sides alike. */
static uint64_t fold(uint64_t bytes)
{
    return bytes & 0xdfdfdfdfdfdfdfdfu;
}

static uint64_t load(const char *at, size_t len)
{
    uint64_t word = 0;
    memcpy(&word, at, len);
    return word;
}

static inline struct name_key key_of(const char *name, size_t len)
{
    struct name_key key = {0, 0};
    if (len >= 8) {
        key.head = fold(load(name, 8));
        key.tail = fold(load(name + len - 8, 8));
    } else if (len >= 4) {
        key.head = fold(load(name, 4));
        key.tail = fold(load(name + len - 4, 4));
    } else if (len >= 2) {
        key.head = fold(load(name, 2));
        key.tail = fold(load(name + len - 2, 2));
    } else if (len == 1) {
        key.head = fold(load(name, 1));
    }
    return key;
}

static inline size_t slot_of(struct name_key key, size_t len)
{
    uint64_t mixed = (key.head ^ len) * 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ key.tail ^ (mixed >> 32)) * 0xbf58476d1ce4e5b9u;
    return mixed >> (64 - SLOT_BITS);
}

static bool is_same_name(const struct slot *slot, const char *name)
{
    return slot->is_plain || strncasecmp(slot->command->name, name, slot->len) == 0;
}

static inline struct slot *find_slot(const char *name, size_t len)
{
    struct name_key key = key_of(name, len);
    for (size_t i = slot_of(key, len);; i = (i + 1) % SLOT_COUNT) {
        struct slot *slot = &slots[i];
        if (!slot->command)
            return slot;
        if (slot->head == key.head && slot->tail == key.tail && slot->len == len &&
            is_same_name(slot, name))
            return slot;
    }
}

static bool is_plain_name(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        char upper = (char)(name[i] & ~0x20);
        if (upper < 'A' || upper > 'Z')
            return false;
    }
    return len <= 16;
}

/* False when the name is taken. */
static bool enter(const struct command *command)
{
    size_t len = strlen(command->name);
    struct name_key key = key_of(command->name, len);
    struct slot *slot = find_slot(command->name, len);
    if (slot->command)
        return false;
    *slot = (struct slot){key.head, key.tail, command, (uint32_t)len,
                          is_plain_name(command->name, len)};
    return true;
}

/* Before main(), so that the workers find a table that is only read. */
__attribute__((constructor)) static void enter_rows(void)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        bool is_new = enter(&rows[i]);
        CW_ASSERT(is_new);
    }
}

const struct command *command_find(const char *name, size_t name_len)
{
    return find_slot(name, name_len)->command;
}

size_t command_count(void)
{
    return COMMAND_COUNT + declared_count;
}

const struct command *command_by_id(enum command_id id)
{
    CW_ASSERT(id < command_count());
    return id < COMMAND_COUNT ? &rows[id] : &declared[id - COMMAND_COUNT];
}

bool command_declare(const char *name, int16_t arity, int8_t first, int8_t last, int8_t step,
                     bool is_write)
{
    size_t len = strnlen(name, NAME_LEN_MAX + 1);
    bool keys_fit = first > 0 && step > 0 && (last < 0 || last >= first);
    if (declared_count == DECLARED_MAX || len == 0 || len > NAME_LEN_MAX || arity == 0 || !keys_fit)
        return false;
    struct command *command = &declared[declared_count];
    *command = (struct command){
        .name = name,
        .arity = arity,
        .flags = is_write ? COMMAND_WRITE : COMMAND_READ,
        .route = COMMAND_KEYED,
        .keys = KEYS_RANGE,
        .first = first,
        .last = last,
        .step = step,
        .id = (uint16_t)(COMMAND_COUNT + declared_count),
        .group = "module",
        .since = "",
        .summary = "A module's command, declared in the configuration",
    };
    if (!enter(command))
        return false;
    declared_count++;
    return true;
}
