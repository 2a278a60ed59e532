#include "cli/compare_svg.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "control/table.h"

enum {
    LEFT = 120,  /* names stand before it */
    RIGHT = 640, /* remarks stand behind it */
    TOP = 8,
    SCALE_HEIGHT = 26,
    TICKS_MAX = 12,
};

void html_text(struct buffer *out, const char *bytes, size_t len)
{
    struct buffer safe = BUFFER_INIT;
    table_append_safe(&safe, bytes, len);
    for (size_t i = 0; i < safe.len; i++) {
        char c = buffer_bytes(&safe)[i];
        if (c == '&')
            buffer_append_text(out, "&amp;");
        else if (c == '<')
            buffer_append_text(out, "&lt;");
        else if (c == '>')
            buffer_append_text(out, "&gt;");
        else if (c == '"')
            buffer_append_text(out, "&quot;");
        else
            buffer_append(out, &c, 1);
    }
    buffer_release(&safe);
}

/* ---- the scale ------------------------------------------------------------------------------- */

static double x_of(const struct svg_plot *plot, double value)
{
    double part = (value - plot->least) / (plot->most - plot->least);
    return LEFT + fmin(fmax(part, 0), 1) * (RIGHT - LEFT);
}

static double height_of(const struct svg_plot *plot)
{
    return (double)plot->row_count * plot->row_height;
}

/* 1, 2 or 5 times a power of ten, so that there are four to ten ticks. */
static double tick_step(double width)
{
    double step = pow(10, floor(log10(width / 4)));
    if (width / step > 20)
        return step * 5;
    return width / step > 8 ? step * 2 : step;
}

static void draw_tick(const struct svg_plot *plot, double value, double step)
{
    int digits = (int)fmax(0, ceil(-log10(plot->is_percent ? step * 100 : step) - 1e-9));
    double x = x_of(plot, value);
    buffer_printf(plot->out,
                  "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.0f\"/>"
                  "<text class=\"tick\" x=\"%.1f\" y=\"%.0f\">%.*f%s</text>\n",
                  x, x, TOP, TOP + height_of(plot), x, TOP + height_of(plot) + 16, digits,
                  plot->is_percent ? value * 100 : value, plot->is_percent ? " %" : "");
}

static void draw_scale(const struct svg_plot *plot)
{
    double step = tick_step(plot->most - plot->least);
    double first = ceil(plot->least / step - 1e-9);
    for (int i = 0; i < TICKS_MAX && (first + i) * step <= plot->most + step * 1e-6; i++)
        draw_tick(plot, (first + i) * step, step);
}

static void draw_mark(const struct svg_plot *plot, double mark, double band)
{
    double bottom = TOP + height_of(plot), left = x_of(plot, mark - band);
    if (mark < plot->least || mark > plot->most)
        return;
    if (band > 0)
        buffer_printf(plot->out,
                      "<rect class=\"band\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%.0f\"/>",
                      left, TOP, fmax(1, x_of(plot, mark + band) - left), bottom - TOP);
    buffer_printf(plot->out,
                  "<line class=\"mark\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.0f\"/>\n",
                  x_of(plot, mark), x_of(plot, mark), TOP, bottom);
}

void svg_open(struct svg_plot *plot, const char *label, double mark, double band)
{
    buffer_printf(plot->out, "<svg viewBox=\"0 0 %d %.0f\" role=\"img\" aria-label=\"", SVG_WIDTH,
                  TOP + height_of(plot) + SCALE_HEIGHT);
    html_text(plot->out, label, strlen(label));
    buffer_append_text(plot->out, "\">\n");
    plot->row = 0;
    if (plot->most <= plot->least)
        return;
    draw_scale(plot);
    draw_mark(plot, mark, band);
}

void svg_close(struct svg_plot *plot)
{
    buffer_append_text(plot->out, "</svg>\n");
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double middle_of(const struct svg_plot *plot)
{
    return TOP + ((double)plot->row - 0.5) * plot->row_height;
}

void svg_row(struct svg_plot *plot, const char *name)
{
    plot->row++;
    buffer_printf(plot->out, "<text class=\"name\" x=\"%d\" y=\"%.1f\">", LEFT - 10,
                  middle_of(plot) + 4);
    html_text(plot->out, name, strlen(name));
    buffer_append_text(plot->out, "</text>\n");
}

void svg_remark(struct svg_plot *plot, bool is_bad, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    buffer_printf(plot->out, "<text class=\"remark%s\" x=\"%d\" y=\"%.1f\">", is_bad ? " bad" : "",
                  RIGHT + 18, middle_of(plot) + 4);
    html_text(plot->out, text, strlen(text));
    buffer_append_text(plot->out, "</text>\n");
}

void svg_points(struct svg_plot *plot, const double *values, size_t count)
{
    bool is_taken[RIGHT - LEFT + 1] = {false};
    for (size_t i = 0; i < count; i++) {
        double x = x_of(plot, values[i]);
        size_t column = (size_t)(x - LEFT);
        if (is_taken[column])
            continue;
        is_taken[column] = true;
        buffer_printf(plot->out,
                      "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%.3f</title>"
                      "</circle>",
                      x, middle_of(plot), values[i]);
    }
    buffer_append_text(plot->out, "\n");
}

void svg_bar(struct svg_plot *plot, double value, double bad)
{
    double height = plot->row_height - 6, y = middle_of(plot) - height / 2;
    double good_end = x_of(plot, value - bad), end = x_of(plot, value);
    buffer_printf(plot->out,
                  "<rect class=\"bar\" x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", LEFT,
                  y, good_end - LEFT, height);
    if (bad > 0)
        buffer_printf(plot->out,
                      "<rect class=\"bad\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
                      good_end, y, end - good_end, height);
    buffer_append_text(plot->out, "\n");
}

void svg_columns(struct svg_plot *plot, const uint64_t *counts, size_t count, bool is_bad)
{
    double mean = 0, room = plot->row_height - 8, width = (double)(RIGHT - LEFT) / (double)count;
    double bottom = TOP + (double)plot->row * plot->row_height - 4;
    for (size_t i = 0; i < count; i++)
        mean += (double)counts[i] / (double)count;
    for (size_t i = 0; i < count && mean > 0; i++) {
        double height = fmin((double)counts[i] / mean / 2, 1) * room;
        buffer_printf(plot->out,
                      "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\">"
                      "<title>%.3f</title></rect>",
                      is_bad ? "bad" : "bar", LEFT + (double)i * width, bottom - height, width - 1,
                      height, (double)counts[i] / mean);
    }
    buffer_printf(plot->out,
                  "\n<line class=\"mark\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT,
                  RIGHT, bottom - room / 2, bottom - room / 2);
}
