#include "base/utf8.h"

/* How many bytes a lead byte announces; 0: it is none. */
static size_t announced(unsigned char lead)
{
    if (lead < 0x80)
        return 1;
    if (lead >= 0xc2 && lead < 0xe0)
        return 2;
    if (lead >= 0xe0 && lead < 0xf0)
        return 3;
    return lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
}

size_t utf8_read(const char *bytes, size_t len, uint32_t *ret_character)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (len == 0)
        return 0;
    unsigned char lead = (unsigned char)bytes[0];
    size_t size = announced(lead);
    if (size == 0 || size > len)
        return 0;
    uint32_t character = size == 1 ? lead : lead & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if (((unsigned char)bytes[i] & 0xc0) != 0x80)
            return 0;
        character = character << 6 | ((unsigned char)bytes[i] & 0x3f);
    }
    if (character < least[size] || character > 0x10ffff ||
        (character >= 0xd800 && character < 0xe000))
        return 0;
    *ret_character = character;
    return size;
}

bool utf8_is_valid(const char *bytes, size_t len)
{
    uint32_t character;
    for (size_t i = 0, size; i < len; i += size)
        if ((size = utf8_read(bytes + i, len - i, &character)) == 0)
            return false;
    return true;
}

struct range {
    uint32_t first, last;
};

static bool is_in(const struct range *ranges, size_t count, uint32_t character)
{
    for (size_t i = 0; i < count; i++)
        if (character >= ranges[i].first && character <= ranges[i].last)
            return true;
    return false;
}

unsigned utf8_width(uint32_t character)
{
    static const struct range none[] = {
        {0x300, 0x36f},   {0x483, 0x489},   {0x591, 0x5bd},     {0x610, 0x61a},   {0x64b, 0x65f},
        {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},   {0x20d0, 0x20ff}, {0xfe00, 0xfe0f},
        {0xfe20, 0xfe2f}, {0xfeff, 0xfeff}, {0xe0100, 0xe01ef},
    };
    static const struct range wide[] = {
        {0x1100, 0x115f},   {0x231a, 0x231b},   {0x23e9, 0x23ec},   {0x2614, 0x2615},
        {0x26a1, 0x26a1},   {0x2705, 0x2705},   {0x274c, 0x274c},   {0x2e80, 0x303e},
        {0x3041, 0xa4cf},   {0xa960, 0xa97f},   {0xac00, 0xd7a3},   {0xf900, 0xfaff},
        {0xfe30, 0xfe6f},   {0xff01, 0xff60},   {0xffe0, 0xffe6},   {0x1f300, 0x1f64f},
        {0x1f680, 0x1f6ff}, {0x1f900, 0x1faff}, {0x20000, 0x3fffd},
    };
    if (character < 0x300)
        return 1;
    if (is_in(none, sizeof none / sizeof *none, character))
        return 0;
    return is_in(wide, sizeof wide / sizeof *wide, character) ? 2 : 1;
}
