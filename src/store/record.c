#include "store/record.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/assert.h"
#include "store/bytes.h"

enum { AT_HLC = 0, AT_WRITER = 8, AT_SEQUENCE = 12, AT_EXPIRE = 16, AT_SUM = 24 };
enum { KEY_LEN_BYTES = 4 };

static_assert(AT_SUM + sizeof(uint64_t) == RECORD_HEADER_LEN, "the sum ends the header");
static_assert(RECORD_FLAGS_KNOWN <= 0xff, "flags have a byte");

size_t record_len(const struct record *record)
{
    size_t key = record->flags & RECORD_HAS_KEY ? KEY_LEN_BYTES + record->key.len : 0;
    return RECORD_HEADER_LEN + key + record->value.len;
}

/* The header's hash seeds that of the rest: one sum over both without copying them together. */
uint64_t record_sum(const char *bytes, size_t len)
{
    uint64_t seed = XXH3_64bits(bytes, AT_SUM);
    return XXH3_64bits_withSeed(bytes + RECORD_HEADER_LEN, len - RECORD_HEADER_LEN, seed);
}

void record_encode(const struct record *record, char *to)
{
    char *rest = to + RECORD_HEADER_LEN;
    CW_ASSERT(record->sequence <= RECORD_SEQUENCE_MAX);
    CW_ASSERT((record->flags & ~(uint32_t)RECORD_FLAGS_KNOWN) == 0);
    put_u64(to + AT_HLC, record->hlc);
    put_u32(to + AT_WRITER, record->writer);
    put_u32(to + AT_SEQUENCE, record->sequence << 8 | record->flags);
    put_u64(to + AT_EXPIRE, record->expire_ms);
    if (record->flags & RECORD_HAS_KEY) {
        put_u32(rest, (uint32_t)record->key.len);
        memcpy(rest + KEY_LEN_BYTES, record->key.ptr, record->key.len);
        rest += KEY_LEN_BYTES + record->key.len;
    }
    if (record->value.len)
        memcpy(rest, record->value.ptr, record->value.len);
    put_u64(to + AT_SUM, record_sum(to, record_len(record)));
}

/* Splits what follows the header into key and value. */
static const char *split_body(const char *body, size_t len, struct record *record)
{
    size_t key_len = 0;
    if (record->flags & RECORD_HAS_KEY) {
        if (len < KEY_LEN_BYTES)
            return "its key is cut off";
        key_len = get_u32(body);
        body += KEY_LEN_BYTES;
        len -= KEY_LEN_BYTES;
        if (key_len > len)
            return "its key is cut off";
    }
    record->key = (struct slice){body, key_len};
    record->value = (struct slice){body + key_len, len - key_len};
    if (record->flags & RECORD_TOMBSTONE && record->value.len)
        return "a deletion with a value";
    return NULL;
}

const char *record_peek(const char *bytes, size_t len, struct record *ret_record)
{
    struct record record;
    if (len < RECORD_HEADER_LEN)
        return "shorter than its header";
    uint32_t sequence = get_u32(bytes + AT_SEQUENCE);
    record.hlc = get_u64(bytes + AT_HLC);
    record.writer = get_u32(bytes + AT_WRITER);
    record.sequence = sequence >> 8;
    record.flags = sequence & 0xff;
    record.expire_ms = get_u64(bytes + AT_EXPIRE);
    if (record.flags & ~(uint32_t)RECORD_FLAGS_KNOWN)
        return "flags that this version does not know";
    const char *problem = split_body(bytes + RECORD_HEADER_LEN, len - RECORD_HEADER_LEN, &record);
    if (!problem)
        *ret_record = record;
    return problem;
}

const char *record_decode(const char *bytes, size_t len, struct record *ret_record)
{
    if (len < RECORD_HEADER_LEN)
        return "shorter than its header";
    if (get_u64(bytes + AT_SUM) != record_sum(bytes, len))
        return "its checksum does not match";
    return record_peek(bytes, len, ret_record);
}
