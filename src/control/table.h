/*
 * A table for a person: columns aligned by what is seen (UTF-8, wide characters), titles in bold on
 * a terminal. Cells are filled row by row. What stands in a cell can steer no terminal: control
 * characters and bytes that are no UTF-8 are shown as \x1b. Running out of memory makes the table
 * shorter, never wrong.
 */
#ifndef CONTROL_TABLE_H
#define CONTROL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

enum { TABLE_COLUMNS_MAX = 16 };

struct table {
    size_t column_count, cell_count;
    struct buffer text;  /* the cells, each ended by NUL */
    struct buffer marks; /* of each cell one byte: its colour */
    bool is_right[TABLE_COLUMNS_MAX];
    bool has_color;
};

enum table_color { TABLE_PLAIN, TABLE_GREEN, TABLE_YELLOW, TABLE_RED, TABLE_DIM, TABLE_BOLD };

/* Titles that begin with '>' make a column of numbers, aligned at its right; the '>' is not shown.
 * Ends with NULL. */
void table_init(struct table *table, const char *const *titles, bool has_color);
void table_release(struct table *table);

void table_cell(struct table *table, const char *text);
void table_cell_bytes(struct table *table, const char *bytes, size_t len);
void table_cell_colored(struct table *table, enum table_color color, const char *text);
void table_cellf(struct table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends the table, each line behind `indent`. */
void table_print(const struct table *table, const char *indent, struct buffer *out);

/* Columns of a terminal that a text takes. */
size_t table_width(const char *text);
/* Appends bytes as they may be shown on a terminal. */
void table_append_safe(struct buffer *out, const char *bytes, size_t len);

/* Whether a file is a terminal on which colours are wanted (NO_COLOR and TERM=dumb say no). */
bool table_wants_color(int file);

#endif
