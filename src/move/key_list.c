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
