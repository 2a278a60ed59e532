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
    CW_ASSERT(cw_locate_key(map, "a{b}c", 5) == cw_locate_key(again, "a{b}c", 5));
    cw_map_unref(&again);
    free(text);
    free(text_again);
}

/* Whether a number has so many digits. */
static int has_digits(const char *text, size_t len, size_t many)
{
    size_t run = 0;
    for (size_t i = 0; i < len && run < many; i++)
        run = text[i] >= '0' && text[i] <= '9' ? run + 1 : 0;
    return run >= many;
}

/* Large rings and tables only cost the fuzzer time. */
static int is_costly(const char *text, size_t len)
{
    if (memmem(text, len, "settings", 8) && has_digits(text, len, 5))
        return 1;
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
