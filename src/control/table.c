#include "control/table.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/utf8.h"

bool table_wants_color(int file)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(file) && !(no_color && *no_color) && !(term && strcmp(term, "dumb") == 0);
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool is_shown(uint32_t c)
{
    return c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && !(c >= 0x202a && c <= 0x202e) &&
           !(c >= 0x2066 && c <= 0x2069);
}

void table_append_safe(struct buffer *out, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len;) {
        uint32_t c;
        size_t size = utf8_read(bytes + i, len - i, &c);
        if (size && is_shown(c)) {
            buffer_append(out, bytes + i, size);
            i += size;
        } else {
            buffer_printf(out, "\\x%02x", (unsigned char)bytes[i]);
            i++;
        }
    }
}

size_t table_width(const char *text)
{
    size_t len = strlen(text), width = 0;
    for (size_t i = 0; i < len;) {
        uint32_t c;
        size_t size = utf8_read(text + i, len - i, &c);
        width += size ? utf8_width(c) : 1;
        i += size ? size : 1;
    }
    return width;
}

/* ---- filling --------------------------------------------------------------------------------- */

void table_init(struct table *table, const char *const *titles, bool has_color)
{
    *table = (struct table){.text = BUFFER_INIT, .marks = BUFFER_INIT, .has_color = has_color};
    for (; titles[table->column_count]; table->column_count++)
        CW_ASSERT(table->column_count < TABLE_COLUMNS_MAX);
    for (size_t i = 0; i < table->column_count; i++) {
        table->is_right[i] = titles[i][0] == '>';
        table_cell_colored(table, TABLE_BOLD, titles[i] + table->is_right[i]);
    }
}

void table_release(struct table *table)
{
    buffer_release(&table->text);
    buffer_release(&table->marks);
}

static void add_cell(struct table *table, enum table_color color, const char *bytes, size_t len)
{
    char mark = (char)color;
    size_t before = table->text.len;
    table_append_safe(&table->text, bytes, len);
    if (buffer_append(&table->text, "", 1) && buffer_append(&table->marks, &mark, 1))
        table->cell_count++;
    else
        table->text.len = before;
}

void table_cell(struct table *table, const char *text)
{
    add_cell(table, TABLE_PLAIN, text, strlen(text));
}

void table_cell_bytes(struct table *table, const char *bytes, size_t len)
{
    add_cell(table, TABLE_PLAIN, bytes, len);
}

void table_cell_colored(struct table *table, enum table_color color, const char *text)
{
    add_cell(table, color, text, strlen(text));
}

void table_cellf(struct table *table, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    table_cell(table, text);
}

/* ---- printing -------------------------------------------------------------------------------- */

static void measure(const struct table *table, size_t *ret_widths)
{
    const char *text = buffer_bytes(&table->text);
    memset(ret_widths, 0, TABLE_COLUMNS_MAX * sizeof *ret_widths);
    for (size_t i = 0; i < table->cell_count; i++, text += strlen(text) + 1) {
        size_t width = table_width(text), column = i % table->column_count;
        if (width > ret_widths[column])
            ret_widths[column] = width;
    }
}

static void print_cell(const struct table *table, size_t column, size_t width, const char *text,
                       enum table_color color, struct buffer *out)
{
    static const char *const codes[] = {
        [TABLE_GREEN] = "\033[32m", [TABLE_YELLOW] = "\033[33m", [TABLE_RED] = "\033[31m",
        [TABLE_DIM] = "\033[2m",    [TABLE_BOLD] = "\033[1m",
    };
    int blanks = (int)(width - table_width(text));
    bool is_last = column + 1 == table->column_count, is_colored = table->has_color && color;
    if (table->is_right[column])
        buffer_printf(out, "%*s", blanks, "");
    buffer_printf(out, "%s%s%s", is_colored ? codes[color] : "", text, is_colored ? "\033[0m" : "");
    if (!table->is_right[column] && !is_last)
        buffer_printf(out, "%*s", blanks, "");
    if (!is_last) {
        buffer_append_text(out, "  ");
        return;
    }
    while (out->len && buffer_bytes(out)[out->len - 1] == ' ')
        out->len--; /* of empty cells at the end */
    buffer_append_text(out, "\n");
}

void table_print(const struct table *table, const char *indent, struct buffer *out)
{
    size_t widths[TABLE_COLUMNS_MAX];
    if (table->cell_count == 0)
        return;
    measure(table, widths);
    const char *text = buffer_bytes(&table->text), *marks = buffer_bytes(&table->marks);
    /* A row that memory did not suffice for is not shown at all. */
    size_t shown = table->cell_count - table->cell_count % table->column_count;
    for (size_t i = 0; i < shown; i++, text += strlen(text) + 1) {
        size_t column = i % table->column_count;
        if (column == 0)
            buffer_append_text(out, indent);
        print_cell(table, column, widths[column], text, (enum table_color)marks[i], out);
    }
}
