/*
 * The frame of a page of `clockwise compare`, and its tables; the pictures are compare_html.c's.
 */
#ifndef CLI_COMPARE_PAGE_H
#define CLI_COMPARE_PAGE_H

#include "cli/compare_report.h"

/* Up to the first heading. */
void page_open(struct buffer *out);
/* Cost and capabilities, balance, and each node's load. */
void page_tables(const struct report *report, struct buffer *out);
/* The start of a key, fit to be shown anywhere, with a NUL at its end. */
void page_key(const struct top_key *key, struct buffer *out);

#endif
