/*
 * The scanner of replies: a reply scanned in pieces ends where it ends in one, and walking over its
 * values one by one ends there too. The first byte chooses the limit, the second the cuts.
 */
#include <stdlib.h>

#include "base/assert.h"
#include "base/random.h"
#include "wire/resp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of exactly its length, so that a byte too far is seen. */
static char *copy_of(const char *bytes, size_t len)
{
    char *copy = malloc(len ? len : 1);
    CW_ASSERT(copy);
    return memcpy(copy, bytes, len);
}

static enum resp_result scan_in_pieces(struct resp_scanner *scanner, const char *bytes, size_t len,
                                       size_t len_max, struct random *random)
{
    enum resp_result result = RESP_MORE;
    resp_scanner_init(scanner);
    for (size_t there = 0, position = 0; there < len && result == RESP_MORE;) {
        there += 1 + random_below(random, 1 + random_below(random, 48));
        there = there < len ? there : len;
        char *piece = copy_of(bytes, there);
        result = resp_scan(scanner, piece, there, len_max);
        free(piece);
        CW_ASSERT(scanner->position >= position);
        position = scanner->position;
    }
    return result;
}

static bool is_aggregate(char type)
{
    return type == '*' || type == '%' || type == '~' || type == '>' || type == '|';
}

/* Reads one value after the other until the first is complete. A count beyond the input is MORE at
 * once: each element has a byte at least. */
static enum resp_result walk(const char *bytes, size_t len, size_t *ret_end)
{
    uint64_t left = 1;
    size_t at = 0;
    while (left > 0) {
        struct resp_value value;
        enum resp_result result = resp_read_value(bytes + at, len - at, &value);
        if (result != RESP_DONE)
            return result;
        CW_ASSERT(value.head_len > 0 && value.head_len <= len - at);
        if (value.text.len > 0)
            CW_ASSERT(value.text.ptr > bytes + at &&
                      value.text.ptr + value.text.len < bytes + at + value.head_len);
        at += value.head_len;
        left -= value.type != '|';
        if (is_aggregate(value.type)) {
            CW_ASSERT(value.integer >= 0);
            left += (uint64_t)value.integer;
        }
        if (left > len)
            return RESP_MORE;
    }
    *ret_end = at;
    return RESP_DONE;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    size_t len = size - 2, len_max = data[0] & 1 ? (size_t)data[0] * 2 : (size_t)1 << 40, end = 0;
    struct random random = {data[1]};
    struct resp_scanner whole, cut;
    char *bytes = copy_of((const char *)data + 2, len);
    resp_scanner_init(&whole);
    enum resp_result result = len ? resp_scan(&whole, bytes, len, len_max) : RESP_MORE;
    CW_ASSERT(scan_in_pieces(&cut, bytes, len, len_max, &random) == result);
    if (result == RESP_BAD)
        CW_ASSERT(whole.reason == cut.reason && whole.reason);
    if (result == RESP_DONE)
        CW_ASSERT(whole.position == cut.position && whole.position <= len &&
                  whole.position <= len_max);
    /* The walk knows no limit and looks closer: it may find fault where the scanner found none. */
    enum resp_result walked = walk(bytes, len, &end);
    if (walked == RESP_DONE && len_max > len)
        CW_ASSERT(result == RESP_DONE);
    if (result == RESP_DONE)
        CW_ASSERT(walked == RESP_BAD || (walked == RESP_DONE && end == whole.position));
    free(bytes);
    return 0;
}
