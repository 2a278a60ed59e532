/*
 * A map's text from anywhere: it is refused with a place inside the text, or it is a map whose own
 * text is a fixed point.
 */
#include "base/assert.h"

#include <clockwise/clockwise.h>

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_round_trip(struct cw_map *map)
{
    char *text = NULL, *text_again = NULL;
    size_t text_len = 0, len_again = 0;
    struct cw_map *again = NULL;
    if (cw_map_to_text(map, &text, &text_len) != CW_OK)
        return;
    CW_ASSERT(cw_map_from_text(text, text_len, &again, NULL) == CW_OK);
    CW_ASSERT(cw_map_to_text(again, &text_again, &len_again) == CW_OK);
    CW_ASSERT(len_again == text_len && memcmp(text, text_again, text_len) == 0);
    CW_ASSERT(cw_locate(map, 1234567) == cw_locate(again, 1234567));
    cw_map_unref(&again);
    free(text);
    free(text_again);
}

/* Large rings only cost the fuzzer time. */
static int is_costly(const char *text, size_t len)
{
    return len > 4096 || memmem(text, len, "00000", 5) || memmem(text, len, "99999", 5);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cw_map *map = NULL;
    struct cw_error error = {0};
    const char *text = (const char *)data;
    if (is_costly(text, len))
        return 0;
    int status = cw_map_from_text(text, len, &map, &error);
    if (status == CW_OK)
        check_round_trip(map);
    else
        CW_ASSERT(error.status == status && error.message[0]);
    cw_map_unref(&map);
    return 0;
}
