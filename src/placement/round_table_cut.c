/*
 * The round table grows or shrinks by one block: one group of round-hashing is cut into one arc
 * more, or one less, and its records are dealt anew; no others move. The group's blocks are read,
 * all that changes is one commit.
 *
 * Of the records dealt to a block that is full, the rest goes to the stash; where a block has room,
 * records of its arc come back from the stash. Coming back may wait (a record in the stash is found
 * wherever its block has room), so no more come than one commit can hold; going there may not.
 */
#include "placement/round_table.h"

/* The group that is cut: s arcs in the smaller table, s + 1 in the larger. Arc p of it belongs to
 * the same server in both, and arc s is the last server of the larger one. */
struct group {
    struct round round; /* of the smaller table */
    uint32_t q;
    uint32_t arc_count_before, arc_count_after;
};

static struct group group_of(const struct cw_round_table *table, bool grow)
{
    uint32_t smaller = table->state.block_count - !grow;
    struct round round = round_init(smaller, table->shape.base_bits);
    return (struct group){.round = round,
                          .q = round.cut_count,
                          .arc_count_before = round.s + !grow,
                          .arc_count_after = round.s + grow};
}

static uint32_t arc_after(const struct group *group, uint64_t hash)
{
    return (uint32_t)mix_high(hash << group->round.e, group->arc_count_after);
}

static char *old_block(const struct cw_round_table *table, uint32_t p)
{
    return table->old_blocks + (size_t)p * table->shape.block_size;
}

static int read_group(struct cw_round_table *table, const struct group *group)
{
    for (uint32_t p = 0; p < group->arc_count_before; p++) {
        uint32_t number = round_server(&group->round, group->q, p);
        int status = device_read_block(table, BLOCK_OF_TABLE, number, old_block(table, p));
        if (status != CW_OK)
            return status;
    }
    return CW_OK;
}

/* Deals the records of an old block to the images; those that find no room stay in it. */
static void deal_block(struct cw_round_table *table, const struct group *group, char *block)
{
    const struct shape *shape = &table->shape;
    for (uint32_t i = block_records(block); i-- > 0;) {
        char *record = block_record(shape, block, i);
        char *image = commit_image(table, arc_after(group, record_hash(shape, record)));
        if (block_records(image) == shape->block_capacity)
            continue;
        block_append(shape, image, record, record + shape->key_size);
        block_remove(shape, block, i);
    }
}

/* How many records found no room. */
static uint32_t deal_group(struct cw_round_table *table, const struct group *group)
{
    uint32_t left = 0;
    for (uint32_t p = 0; p < group->arc_count_after; p++)
        block_clear(&table->shape, commit_add(table), BLOCK_OF_TABLE,
                    round_server(&group->round, group->q, p));
    for (uint32_t p = 0; p < group->arc_count_before; p++) {
        deal_block(table, group, old_block(table, p));
        left += block_records(old_block(table, p));
    }
    return left;
}

static void pull_from_stash(struct cw_round_table *table, const struct group *group)
{
    const struct stash *stash = &table->stash;
    unsigned e = group->round.e;
    uint64_t first = e ? (uint64_t)group->q << (64 - e) : 0;
    uint64_t last = first | UINT64_MAX >> e;
    for (size_t i = stash_lower_bound(stash, first);
         i < stash->count && stash->entries[i].hash <= last; i++) {
        char *image = commit_image(table, arc_after(group, stash->entries[i].hash));
        if (block_records(image) < table->shape.block_capacity &&
            !stash_take(table, &stash->entries[i], image))
            return;
    }
}

static int push_to_stash(struct cw_round_table *table, const struct group *group)
{
    const struct shape *shape = &table->shape;
    uint32_t limit = stash_block_count(shape, table->next.block_count);
    for (uint32_t p = 0; p < group->arc_count_before; p++)
        for (uint32_t i = 0; i < block_records(old_block(table, p)); i++) {
            const char *record = block_record(shape, old_block(table, p), i);
            int status = stash_place(table, record, record + shape->key_size, limit);
            if (status != CW_OK)
                return status;
        }
    return CW_OK;
}

int cut_group(struct cw_round_table *table, bool grow)
{
    struct group group = group_of(table, grow);
    int status = read_group(table, &group);
    if (status != CW_OK)
        return status;
    commit_begin(table);
    if (grow)
        table->next.block_count++;
    else
        table->next.block_count--;
    /* When many must go to the stash, none comes back: the commit keeps its room for them. */
    if (deal_group(table, &group) <= table->shape.block_capacity)
        pull_from_stash(table, &group);
    status = push_to_stash(table, &group);
    return status == CW_OK ? commit_run(table) : status;
}
