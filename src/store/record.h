/*
 * A record: the stored form of a value. A header of 32 bytes, big-endian, and the value behind it;
 * the same on every engine, so that records can be copied and compared byte by byte:
 *
 *   hlc u64 | writer u32 | sequence u24, flags u8 | expire_ms u64 | sum u64 | [key] | value
 *
 * hlc is a hybrid logical clock, 48 bits of milliseconds and a counter of 16; (hlc, writer,
 * sequence) is the version. sum is XXH3 over everything else, so that a torn or rotten record is
 * seen and named instead of served. The key stands in the record only when the engine's own key
 * cannot hold it (RECORD_HAS_KEY: its length as u32, then its bytes).
 */
#ifndef STORE_RECORD_H
#define STORE_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "wire/resp.h"

enum {
    RECORD_HEADER_LEN = 32,
    RECORD_SEQUENCE_MAX = (1 << 24) - 1,
};

enum record_flags {
    RECORD_TOMBSTONE = 1 << 0, /* a deletion that is remembered; its value is empty */
    RECORD_HAS_KEY = 1 << 1,
    RECORD_FLAGS_KNOWN = RECORD_TOMBSTONE | RECORD_HAS_KEY,
};

/* A record taken apart. The slices belong to whoever gave the bytes. */
struct record {
    uint64_t hlc;
    uint32_t writer;
    uint32_t sequence;  /* 0 .. RECORD_SEQUENCE_MAX */
    uint32_t flags;     /* enum record_flags */
    uint64_t expire_ms; /* milliseconds since 1970; 0: never */
    struct slice key;   /* empty without RECORD_HAS_KEY */
    struct slice value;
};

/* Bytes that record_encode() writes. */
size_t record_len(const struct record *record);
/* Writes exactly record_len() bytes. */
void record_encode(const struct record *record, char *to);

/* Takes a record apart. NULL when all is well, else what is wrong with it (static storage), and
 * then *ret_record is not written. Looks at each byte of the value once. */
const char *record_decode(const char *bytes, size_t len, struct record *ret_record);
/* The same without the checksum, in constant time: the value is not looked at. */
const char *record_peek(const char *bytes, size_t len, struct record *ret_record);

/* The checksum that the bytes of a record should have (len >= RECORD_HEADER_LEN). */
uint64_t record_sum(const char *bytes, size_t len);

/* Whether its time is over. A record lives to the end of its last millisecond, as in Redis. */
static inline bool record_is_expired(const struct record *record, uint64_t now_ms)
{
    return record->expire_ms != 0 && now_ms > record->expire_ms;
}

/* The next reading of a hybrid logical clock: later than the last one, and not behind the clock. */
static inline uint64_t hlc_next(uint64_t last, uint64_t now_ms)
{
    uint64_t now = now_ms << 16;
    return now > last ? now : last + 1;
}

#endif
