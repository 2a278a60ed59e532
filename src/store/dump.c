#include "store/dump.h"

void dump_write(const struct record *record, char *to)
{
    struct record bare = *record;
    bare.flags &= ~(uint32_t)RECORD_HAS_KEY;
    to[0] = DUMP_VERSION;
    record_encode(&bare, to + 1);
}

bool dump_read(struct slice payload, struct record *ret_record)
{
    struct record record;
    if (payload.len < DUMP_OVERHEAD_LEN || payload.ptr[0] != DUMP_VERSION ||
        record_decode(payload.ptr + 1, payload.len - 1, &record) != NULL ||
        record.flags & (RECORD_HAS_KEY | RECORD_TOMBSTONE))
        return false;
    *ret_record = record;
    return true;
}
