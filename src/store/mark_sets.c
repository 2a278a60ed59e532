#include "store/mark_sets.h"

#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { SHARD_BITS = 8, SHARDS = 1 << SHARD_BITS, SHARD_SLOTS_MIN = 4 };

struct mark {
    struct mark *next; /* in its chain */
    uint64_t hash;
    size_t len;
    char bytes[];
};

struct shard {
    struct mark **slots; /* NULL: none yet */
    uint32_t slot_count, count;
    uint32_t pop_at; /* where the next pop looks first */
};

struct mark_set {
    struct mark_set *next;
    size_t name_len;
    char *name;
    uint64_t count, bytes;
    uint32_t pop_shard;
    struct shard shards[SHARDS];
};

enum step_kind { STEP_CREATED, STEP_ADDED, STEP_REMOVED, STEP_DROPPED };

struct mark_step {
    enum step_kind kind;
    struct mark_set *set;
    struct mark *mark;
};

bool marks_is_name(struct slice key)
{
    static const char prefix[] = "\0cw:";
    return key.len >= sizeof prefix - 1 && key.ptr[0] == '\0' &&
           memcmp(key.ptr, prefix, sizeof prefix - 1) == 0;
}

/* What a mark takes: with its place in a table and what the allocator adds. */
static uint64_t mark_bytes(const struct mark *mark)
{
    return sizeof *mark + mark->len + sizeof(struct mark *) + 16;
}

/* ---- one set --------------------------------------------------------------------------------- */

static struct shard *shard_of(struct mark_set *set, uint64_t hash)
{
    return &set->shards[hash >> (64 - SHARD_BITS)];
}

static struct mark **chain_of(const struct shard *shard, uint64_t hash)
{
    return &shard->slots[hash & (shard->slot_count - 1)];
}

static bool grow(struct shard *shard)
{
    struct shard larger = {.slot_count = shard->slots ? shard->slot_count * 2 : SHARD_SLOTS_MIN,
                           .count = shard->count};
    larger.slots = calloc(larger.slot_count, sizeof(struct mark *));
    if (!larger.slots)
        return false;
    for (uint32_t i = 0; shard->slots && i < shard->slot_count; i++)
        for (struct mark *mark = shard->slots[i], *next; mark; mark = next) {
            struct mark **chain = chain_of(&larger, mark->hash);
            next = mark->next;
            mark->next = *chain;
            *chain = mark;
        }
    free(shard->slots);
    *shard = larger;
    return true;
}

/* Where the mark's pointer stands, or NULL. */
static struct mark **find_link(struct mark_set *set, uint64_t hash, struct slice member)
{
    struct shard *shard = shard_of(set, hash);
    if (!shard->slots)
        return NULL;
    for (struct mark **link = chain_of(shard, hash); *link; link = &(*link)->next)
        if ((*link)->hash == hash && (*link)->len == member.len &&
            memcmp((*link)->bytes, member.ptr, member.len) == 0)
            return link;
    return NULL;
}

static struct mark **link_of(struct mark_set *set, const struct mark *mark)
{
    struct mark **link = chain_of(shard_of(set, mark->hash), mark->hash);
    while (*link != mark)
        link = &(*link)->next;
    return link;
}

static void put_in(struct marks *marks, struct mark_set *set, struct mark *mark)
{
    struct shard *shard = shard_of(set, mark->hash);
    struct mark **chain = chain_of(shard, mark->hash);
    mark->next = *chain;
    *chain = mark;
    shard->count++;
    set->count++;
    set->bytes += mark_bytes(mark);
    marks->count++;
    marks->bytes += mark_bytes(mark);
}

static struct mark *take_out(struct marks *marks, struct mark_set *set, struct mark **link)
{
    struct mark *mark = *link;
    *link = mark->next;
    shard_of(set, mark->hash)->count--;
    set->count--;
    set->bytes -= mark_bytes(mark);
    marks->count--;
    marks->bytes -= mark_bytes(mark);
    return mark;
}

static void free_shard(struct shard *shard)
{
    for (uint32_t i = 0; shard->slots && i < shard->slot_count; i++)
        for (struct mark *mark = shard->slots[i], *next; mark; mark = next) {
            next = mark->next;
            free(mark);
        }
    free(shard->slots);
    *shard = (struct shard){0};
}

static void free_set(struct mark_set *set)
{
    for (int i = 0; i < SHARDS; i++)
        free_shard(&set->shards[i]);
    free(set->name);
    free(set);
}

uint64_t mark_set_count(const struct mark_set *set)
{
    return set ? set->count : 0;
}

bool mark_set_has(const struct mark_set *set, struct slice member)
{
    uint64_t hash = XXH3_64bits(member.ptr, member.len);
    return set && find_link((struct mark_set *)(uintptr_t)set, hash, member);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Room for one more: whoever changes something makes sure first that it can be undone. */
static bool reserve_step(struct marks *marks)
{
    if (marks->step_count < marks->step_capacity)
        return true;
    size_t capacity = marks->step_capacity ? marks->step_capacity * 2 : 64;
    struct mark_step *steps = realloc(marks->steps, capacity * sizeof *steps);
    if (!steps)
        return false;
    marks->steps = steps;
    marks->step_capacity = capacity;
    return true;
}

static void note_step(struct marks *marks, enum step_kind kind, struct mark_set *set,
                      struct mark *mark)
{
    marks->steps[marks->step_count++] = (struct mark_step){kind, set, mark};
}

/* ---- sets ------------------------------------------------------------------------------------ */

static void link_set(struct marks *marks, struct mark_set *set)
{
    set->next = marks->sets;
    marks->sets = set;
    marks->set_count++;
    marks->count += set->count;
    marks->bytes += set->bytes;
}

static void unlink_set(struct marks *marks, struct mark_set *set)
{
    struct mark_set **link = &marks->sets;
    while (*link != set)
        link = &(*link)->next;
    *link = set->next;
    marks->set_count--;
    marks->count -= set->count;
    marks->bytes -= set->bytes;
}

/* Also one that has become empty since the last keep. */
static struct mark_set *find_set(const struct marks *marks, struct slice name)
{
    struct mark_set *set = marks->sets;
    while (set && !(set->name_len == name.len && memcmp(set->name, name.ptr, name.len) == 0))
        set = set->next;
    return set;
}

struct mark_set *marks_find(const struct marks *marks, struct slice name)
{
    struct mark_set *set = marks_is_name(name) ? find_set(marks, name) : NULL;
    return set && set->count ? set : NULL;
}

static struct mark_set *make_set(struct marks *marks, struct slice name)
{
    if (marks->set_count >= MARKS_SETS_MAX || !reserve_step(marks))
        return NULL;
    struct mark_set *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->name = malloc(name.len);
    if (!set->name) {
        free(set);
        return NULL;
    }
    memcpy(set->name, name.ptr, name.len);
    set->name_len = name.len;
    link_set(marks, set);
    note_step(marks, STEP_CREATED, set, NULL);
    return set;
}

static bool drop_set(struct marks *marks, struct mark_set *set)
{
    if (!reserve_step(marks))
        return false;
    unlink_set(marks, set);
    note_step(marks, STEP_DROPPED, set, NULL);
    return true;
}

bool marks_drop(struct marks *marks, struct slice name)
{
    struct mark_set *set = marks_find(marks, name);
    return set && drop_set(marks, set);
}

bool marks_drop_all(struct marks *marks)
{
    while (marks->sets)
        if (!drop_set(marks, marks->sets))
            return false;
    return true;
}

/* ---- marks ----------------------------------------------------------------------------------- */

static bool has_room(const struct marks *marks, size_t len)
{
    uint64_t count_max = marks->count_max ? marks->count_max : MARKS_COUNT_MAX;
    uint64_t bytes_max = marks->bytes_max ? marks->bytes_max : MARKS_BYTES_MAX;
    const struct mark frame = {.len = len};
    return marks->count < count_max && marks->bytes + mark_bytes(&frame) <= bytes_max;
}

static struct mark *make_mark(struct slice member, uint64_t hash)
{
    struct mark *mark = malloc(sizeof *mark + member.len);
    if (!mark)
        return NULL;
    mark->hash = hash;
    mark->len = member.len;
    if (member.len)
        memcpy(mark->bytes, member.ptr, member.len);
    return mark;
}

int marks_add(struct marks *marks, struct slice name, struct slice member)
{
    uint64_t hash = XXH3_64bits(member.ptr, member.len);
    struct mark_set *set = find_set(marks, name);
    if (set && find_link(set, hash, member))
        return 0;
    if (!has_room(marks, member.len))
        return -1;
    if (!set)
        set = make_set(marks, name);
    if (!set || !reserve_step(marks))
        return -1;
    struct shard *shard = shard_of(set, hash);
    if (shard->count >= shard->slot_count && !grow(shard))
        return -1;
    struct mark *mark = make_mark(member, hash);
    if (!mark)
        return -1;
    put_in(marks, set, mark);
    note_step(marks, STEP_ADDED, set, mark);
    return 1;
}

bool marks_remove(struct marks *marks, struct mark_set *set, struct slice member)
{
    struct mark **link = set ? find_link(set, XXH3_64bits(member.ptr, member.len), member) : NULL;
    if (!link || !reserve_step(marks))
        return false;
    note_step(marks, STEP_REMOVED, set, take_out(marks, set, link));
    return true;
}

bool marks_pop(struct marks *marks, struct mark_set *set, size_t len_max, struct slice *ret_member)
{
    if (!set || set->count == 0 || !reserve_step(marks))
        return false;
    while (set->shards[set->pop_shard].count == 0)
        set->pop_shard = (set->pop_shard + 1) % SHARDS;
    struct shard *shard = &set->shards[set->pop_shard];
    while (!shard->slots[shard->pop_at & (shard->slot_count - 1)])
        shard->pop_at++;
    struct mark **link = &shard->slots[shard->pop_at & (shard->slot_count - 1)];
    if ((*link)->len > len_max)
        return false;
    struct mark *mark = take_out(marks, set, link);
    note_step(marks, STEP_REMOVED, set, mark);
    *ret_member = (struct slice){mark->bytes, mark->len};
    return true;
}

/* ---- for good, or not at all ----------------------------------------------------------------- */

/* A piece of the sets that are gone: all of a large one at once would take too long. */
static void free_some(struct marks *marks)
{
    enum { SHARDS_A_CALL = 8 };
    struct mark_set *set = marks->dropped;
    for (int i = 0; set && i < SHARDS_A_CALL; i++)
        free_shard(&set->shards[marks->dropped_shard++]);
    if (!set || marks->dropped_shard < SHARDS)
        return;
    marks->dropped = set->next;
    marks->dropped_shard = 0;
    free_set(set);
}

static void drop_empty_sets(struct marks *marks)
{
    for (struct mark_set *set = marks->sets, *next; set; set = next) {
        next = set->next;
        if (set->count)
            continue;
        unlink_set(marks, set);
        free_set(set);
    }
}

void marks_keep(struct marks *marks)
{
    enum { KEPT_CAPACITY = 4096 };
    free_some(marks);
    if (marks->step_count == 0)
        return;
    for (size_t i = 0; i < marks->step_count; i++) {
        struct mark_step *step = &marks->steps[i];
        if (step->kind == STEP_REMOVED)
            free(step->mark);
        if (step->kind != STEP_DROPPED)
            continue;
        step->set->next = marks->dropped;
        marks->dropped = step->set;
        marks->dropped_shard = 0;
    }
    drop_empty_sets(marks);
    marks->step_count = 0;
    if (marks->step_capacity <= KEPT_CAPACITY)
        return;
    free(marks->steps);
    marks->steps = NULL;
    marks->step_capacity = 0;
}

static void undo_step(struct marks *marks, const struct mark_step *step)
{
    switch (step->kind) {
    case STEP_CREATED:
        unlink_set(marks, step->set);
        free_set(step->set);
        break;
    case STEP_ADDED: free(take_out(marks, step->set, link_of(step->set, step->mark))); break;
    case STEP_REMOVED: put_in(marks, step->set, step->mark); break;
    case STEP_DROPPED: link_set(marks, step->set); break;
    }
}

void marks_undo(struct marks *marks)
{
    while (marks->step_count)
        undo_step(marks, &marks->steps[--marks->step_count]);
}

void marks_release(struct marks *marks)
{
    marks_keep(marks);
    while (marks->dropped) {
        struct mark_set *set = marks->dropped;
        marks->dropped = set->next;
        free_set(set);
    }
    while (marks->sets) {
        struct mark_set *set = marks->sets;
        unlink_set(marks, set);
        free_set(set);
    }
    free(marks->steps);
    *marks = (struct marks){0};
}
