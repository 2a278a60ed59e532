/*
 * The pictures of a page of `clockwise compare`: SVG that stands inside the page, coloured by the
 * page's style, with a label for those who cannot see it and the figures for those who point at it.
 */
#ifndef CLI_COMPARE_SVG_H
#define CLI_COMPARE_SVG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

enum { SVG_WIDTH = 860 };

/* Appends a text so that it is nothing but text, in an element or an attribute's quotes. Bytes that
 * no terminal may see are shown as \x1b. */
void html_text(struct buffer *out, const char *bytes, size_t len);

/* A picture with one row a placement, hash or key, each with a name at its left and a remark at its
 * right, over a scale. */
struct svg_plot {
    struct buffer *out;
    double least, most; /* of the scale */
    bool is_percent;    /* ticks as 10 %, not as 1.05 */
    unsigned row, row_count, row_height;
};

/* Opens a picture with its scale; `label` says what it shows. A line is drawn at `mark`, and a band
 * as far as `band` to both sides of it; a mark outside the scale is not drawn. */
void svg_open(struct svg_plot *plot, const char *label, double mark, double band);
void svg_close(struct svg_plot *plot);

/* Starts the next row. */
void svg_row(struct svg_plot *plot, const char *name);
void svg_remark(struct svg_plot *plot, bool is_bad, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A point at each value; those that would cover each other are drawn once. */
void svg_points(struct svg_plot *plot, const double *values, size_t count);
/* A bar from 0, whose last part is bad. */
void svg_bar(struct svg_plot *plot, double value, double bad);
/* Small columns side by side: counts relative to their mean, as high as twice the mean. */
void svg_columns(struct svg_plot *plot, const uint64_t *counts, size_t count, bool is_bad);

#endif
