/*
 * The log: one line an event on standard error, as
 *   2026-01-31T12:00:00.123Z warn event=node_down node=cache-1 …
 * Any thread; a line is written with one call, so lines never mix. This is the only state of the
 * program that is global.
 */
#ifndef CONTROL_LOG_H
#define CONTROL_LOG_H

enum log_level { LEVEL_DEBUG, LEVEL_INFO, LEVEL_WARN, LEVEL_ERROR };

/* Lines below this level are not written; LEVEL_INFO unless set. */
void log_set_level(int level);
/* Writes a line that begins with event=. As router_options.log wants it. */
void log_line(int level, const char *line);
/* The same from a format. Values with blanks are the caller's to quote. */
void log_event(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
