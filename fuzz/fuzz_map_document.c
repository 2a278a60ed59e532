/*
 * A pool's document from anywhere: it is refused with a sentence, or it is a record whose own
 * document is a fixed point.
 */
#include "base/assert.h"
#include "control/map_document.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_round_trip(const struct map_record *record)
{
    char problem[MAP_DOCUMENT_PROBLEM_SIZE];
    struct buffer text = BUFFER_INIT, again = BUFFER_INIT;
    struct map_record *read = NULL;
    CW_ASSERT(map_document_write("main", record, &text) == 0);
    CW_ASSERT(map_document_read(buffer_bytes(&text), text.len, "main", true, &read, problem) == 0);
    CW_ASSERT(map_document_write("main", read, &again) == 0);
    CW_ASSERT(text.len == again.len &&
              memcmp(buffer_bytes(&text), buffer_bytes(&again), text.len) == 0);
    map_record_destroy(&read);
    buffer_release(&text);
    buffer_release(&again);
}

/* Large rings only cost the fuzzer time. */
static int is_costly(const char *text, size_t len)
{
    return len > 8192 || memmem(text, len, "00000", 5) || memmem(text, len, "99999", 5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char problem[MAP_DOCUMENT_PROBLEM_SIZE] = "";
    struct map_record *record = NULL;
    const char *text = (const char *)data;
    if (is_costly(text, len))
        return 0;
    if (map_document_read(text, len, NULL, true, &record, problem) == 0) {
        check_round_trip(record);
        map_record_destroy(&record);
    } else {
        CW_ASSERT(problem[0] && !record);
    }
    return 0;
}
