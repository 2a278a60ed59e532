#include "move/key_list.h"

#include <string.h>

bool key_list_add(struct key_list *list, struct slice key)
{
    size_t end = list->bytes.len + key.len;
    if (!buffer_append(&list->bytes, key.ptr, key.len))
        return false;
    if (buffer_append(&list->ends, (const char *)&end, sizeof end))
        return true;
    list->bytes.len -= key.len;
    return false;
}

size_t key_list_count(const struct key_list *list)
{
    return list->ends.len / sizeof(size_t);
}

static size_t end_at(const struct key_list *list, size_t index)
{
    size_t end;
    memcpy(&end, buffer_bytes(&list->ends) + index * sizeof end, sizeof end);
    return end;
}

struct slice key_list_at(const struct key_list *list, size_t index)
{
    size_t start = index ? end_at(list, index - 1) : 0;
    return (struct slice){buffer_bytes(&list->bytes) + start, end_at(list, index) - start};
}

void key_list_clear(struct key_list *list)
{
    buffer_clear(&list->bytes);
    buffer_clear(&list->ends);
}

void key_list_release(struct key_list *list)
{
    buffer_release(&list->bytes);
    buffer_release(&list->ends);
}

/* ---- samples --------------------------------------------------------------------------------- */

static void drop_half(struct key_sample *sample)
{
    struct key_list half = KEY_LIST_INIT;
    for (size_t i = 0; i < key_list_count(&sample->keys); i += 2)
        key_list_add(&half, key_list_at(&sample->keys, i));
    key_list_release(&sample->keys);
    sample->keys = half;
    sample->stride *= 2;
}

void key_sample_offer(struct key_sample *sample, struct slice key)
{
    if (sample->stride == 0)
        sample->stride = 1;
    if (sample->seen++ % sample->stride != 0)
        return;
    if (key_list_count(&sample->keys) == KEY_SAMPLE_MAX) {
        drop_half(sample);
        if ((sample->seen - 1) % sample->stride != 0)
            return;
    }
    key_list_add(&sample->keys, key);
}

void key_sample_clear(struct key_sample *sample)
{
    key_list_clear(&sample->keys);
    sample->seen = sample->stride = 0;
}

void key_sample_release(struct key_sample *sample)
{
    key_list_release(&sample->keys);
    *sample = (struct key_sample){0};
}
