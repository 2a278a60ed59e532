/*
 * Records from bytes: what is taken apart without complaint is put together to the same bytes, and
 * slices stay inside the input. Once with the input as it is, and once with a right checksum, since
 * hardly any input has one.
 */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "store/bytes.h"
#include "store/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_inside(struct slice part, const char *bytes, size_t len)
{
    CW_ASSERT(part.ptr >= bytes && part.ptr + part.len <= bytes + len);
}

static void check_record(const char *bytes, size_t len)
{
    struct record record, peeked;
    const char *problem = record_decode(bytes, len, &record);
    if (problem) {
        CW_ASSERT(problem[0] != '\0');
        return;
    }
    CW_ASSERT(record_peek(bytes, len, &peeked) == NULL);
    check_inside(record.value, bytes, len);
    check_inside(record.key, bytes, len);
    CW_ASSERT(record_len(&record) == len);
    char *again = malloc(len);
    if (!again)
        return;
    record_encode(&record, again);
    CW_ASSERT(memcmp(again, bytes, len) == 0);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *bytes = malloc(len + 1);
    if (!bytes)
        return 0;
    memcpy(bytes, data, len);
    check_record(bytes, len);
    if (len >= RECORD_HEADER_LEN) {
        put_u64(bytes + 24, record_sum(bytes, len));
        check_record(bytes, len);
    }
    free(bytes);
    return 0;
}
