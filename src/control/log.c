#include "control/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINE_SIZE = 1200 };

static atomic_int level_min = LEVEL_INFO;

void log_set_level(int level)
{
    atomic_store(&level_min, level);
}

static size_t write_head(char *line, size_t size, int level)
{
    static const char *const names[] = {"debug", "info", "warn", "error"};
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t len = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &utc);
    len += (size_t)snprintf(line + len, size - len, ".%03ldZ %s ", now.tv_nsec / 1000000,
                            names[level & 3]);
    return len;
}

/* What a message quotes may come from the network or a file: it may neither end the line nor steer
 * a terminal. */
static size_t append_masked(char *line, size_t len, const char *text)
{
    for (; *text && len < LINE_SIZE - 1; text++)
        line[len++] = (unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text;
    return len;
}

void log_line(int level, const char *text)
{
    char line[LINE_SIZE];
    if (level < atomic_load(&level_min))
        return;
    size_t len = append_masked(line, write_head(line, sizeof line, level), text);
    line[len++] = '\n';
    /* There is nobody to tell that the log cannot be written. */
    ssize_t ignored = write(STDERR_FILENO, line, len);
    (void)ignored;
}

void log_event(int level, const char *format, ...)
{
    char text[LINE_SIZE];
    va_list args;
    if (level < atomic_load(&level_min))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    log_line(level, text);
}
