#include "wire/command_miss.h"

#include "base/assert.h"

enum miss {
    MISS_UNDEFINED,
    MISS_NIL,
    MISS_NIL_ARRAY,
    MISS_ZERO,
    MISS_NO_EXPIRY, /* -2 */
    MISS_NO_TYPE,   /* none */
    MISS_EMPTY_TEXT,
    MISS_EMPTY_ARRAY,
    MISS_EMPTY_SET,
    MISS_EMPTY_MAP,
    MISS_EMPTY_SCAN, /* the end, and nothing */
    MISS_NILS,       /* one for each argument from `from` on */
    MISS_ZEROS,
};

static const struct {
    uint8_t miss, from;
    uint8_t arg_count_max; /* with more arguments the answer is another; 0: any number */
} misses[COMMAND_COUNT] = {
    [CMD_GET] = {MISS_NIL, 0, 0},
    [CMD_DIGEST] = {MISS_NIL, 0, 0},
    [CMD_GETRANGE] = {MISS_EMPTY_TEXT, 0, 0},
    [CMD_SUBSTR] = {MISS_EMPTY_TEXT, 0, 0},
    [CMD_MGET] = {MISS_NILS, 1, 0},
    [CMD_STRLEN] = {MISS_ZERO, 0, 0},
    [CMD_BITCOUNT] = {MISS_ZERO, 0, 0},
    [CMD_GETBIT] = {MISS_ZERO, 0, 0},
    [CMD_HEXISTS] = {MISS_ZERO, 0, 0},
    [CMD_HGET] = {MISS_NIL, 0, 0},
    [CMD_HGETALL] = {MISS_EMPTY_MAP, 0, 0},
    [CMD_HKEYS] = {MISS_EMPTY_ARRAY, 0, 0},
    [CMD_HVALS] = {MISS_EMPTY_ARRAY, 0, 0},
    [CMD_HLEN] = {MISS_ZERO, 0, 0},
    [CMD_HMGET] = {MISS_NILS, 2, 0},
    [CMD_HSTRLEN] = {MISS_ZERO, 0, 0},
    [CMD_HSCAN] = {MISS_EMPTY_SCAN, 0, 0},
    [CMD_LINDEX] = {MISS_NIL, 0, 0},
    [CMD_LLEN] = {MISS_ZERO, 0, 0},
    [CMD_LRANGE] = {MISS_EMPTY_ARRAY, 0, 0},
    [CMD_SCARD] = {MISS_ZERO, 0, 0},
    [CMD_SISMEMBER] = {MISS_ZERO, 0, 0},
    [CMD_SMEMBERS] = {MISS_EMPTY_SET, 0, 0},
    [CMD_SMISMEMBER] = {MISS_ZEROS, 2, 0},
    [CMD_SSCAN] = {MISS_EMPTY_SCAN, 0, 0},
    [CMD_SDIFF] = {MISS_EMPTY_SET, 0, 0},
    [CMD_SINTER] = {MISS_EMPTY_SET, 0, 0},
    [CMD_SUNION] = {MISS_EMPTY_SET, 0, 0},
    [CMD_ZCARD] = {MISS_ZERO, 0, 0},
    [CMD_ZCOUNT] = {MISS_ZERO, 0, 0},
    [CMD_ZLEXCOUNT] = {MISS_ZERO, 0, 0},
    [CMD_ZMSCORE] = {MISS_NILS, 2, 0},
    [CMD_ZRANGE] = {MISS_EMPTY_ARRAY, 0, 0},
    [CMD_ZRANGEBYLEX] = {MISS_EMPTY_ARRAY, 0, 0},
    [CMD_ZRANGEBYSCORE] = {MISS_EMPTY_ARRAY, 0, 0},
    [CMD_ZREVRANGE] = {MISS_EMPTY_ARRAY, 0, 0},
    [CMD_ZREVRANGEBYLEX] = {MISS_EMPTY_ARRAY, 0, 0},
    [CMD_ZREVRANGEBYSCORE] = {MISS_EMPTY_ARRAY, 0, 0},
    [CMD_ZRANK] = {MISS_NIL, 0, 3},
    [CMD_ZREVRANK] = {MISS_NIL, 0, 3},
    [CMD_ZSCORE] = {MISS_NIL, 0, 0},
    [CMD_ZSCAN] = {MISS_EMPTY_SCAN, 0, 0},
    [CMD_XLEN] = {MISS_ZERO, 0, 0},
    [CMD_XRANGE] = {MISS_EMPTY_ARRAY, 0, 0},
    [CMD_XREVRANGE] = {MISS_EMPTY_ARRAY, 0, 0},
    [CMD_XREAD] = {MISS_NIL_ARRAY, 0, 0},
    [CMD_GEODIST] = {MISS_NIL, 0, 0},
    [CMD_PFCOUNT] = {MISS_ZERO, 0, 0},
    [CMD_EXISTS] = {MISS_ZERO, 0, 0},
    [CMD_TOUCH] = {MISS_ZERO, 0, 0},
    [CMD_TYPE] = {MISS_NO_TYPE, 0, 0},
    [CMD_DUMP] = {MISS_NIL, 0, 0},
    [CMD_TTL] = {MISS_NO_EXPIRY, 0, 0},
    [CMD_PTTL] = {MISS_NO_EXPIRY, 0, 0},
    [CMD_EXPIRETIME] = {MISS_NO_EXPIRY, 0, 0},
    [CMD_PEXPIRETIME] = {MISS_NO_EXPIRY, 0, 0},
};

bool command_has_miss(const struct command *command, uint32_t arg_count)
{
    if (command->id >= COMMAND_COUNT || misses[command->id].miss == MISS_UNDEFINED)
        return false;
    uint32_t max = misses[command->id].arg_count_max;
    return max == 0 || arg_count <= max;
}

static bool write_many(struct buffer *out, uint32_t count, bool is_zero, int protocol)
{
    bool fine = resp_write_array(out, count);
    for (uint32_t i = 0; fine && i < count; i++)
        fine = is_zero ? resp_write_integer(out, 0) : resp_write_null(out, protocol);
    return fine;
}

bool command_write_miss(struct buffer *out, const struct command *command, uint32_t arg_count,
                        int protocol)
{
    CW_ASSERT(command_has_miss(command, arg_count));
    uint32_t from = misses[command->id].from;
    switch ((enum miss)misses[command->id].miss) {
    case MISS_UNDEFINED: break;
    case MISS_NIL: return resp_write_null(out, protocol);
    case MISS_NIL_ARRAY: return resp_write_null_array(out, protocol);
    case MISS_ZERO: return resp_write_integer(out, 0);
    case MISS_NO_EXPIRY: return resp_write_integer(out, -2);
    case MISS_NO_TYPE: return resp_write_simple(out, "none");
    case MISS_EMPTY_TEXT: return resp_write_bulk(out, "", 0);
    case MISS_EMPTY_ARRAY: return resp_write_array(out, 0);
    case MISS_EMPTY_SET: return resp_write_set(out, 0, protocol);
    case MISS_EMPTY_MAP: return resp_write_map(out, 0, protocol);
    case MISS_EMPTY_SCAN:
        return resp_write_array(out, 2) && resp_write_bulk(out, "0", 1) && resp_write_array(out, 0);
    case MISS_NILS: return write_many(out, arg_count - from, false, protocol);
    case MISS_ZEROS: return write_many(out, arg_count - from, true, protocol);
    }
    return false;
}
