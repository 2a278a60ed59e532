#include "placement/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct cw_error *error, enum cw_status status, const char *format, ...)
{
    if (error) {
        va_list args;
        error->status = status;
        error->line = error->column = 0;
        va_start(args, format);
        vsnprintf(error->message, sizeof error->message, format, args);
        va_end(args);
    }
    return status;
}

int error_no_memory(struct cw_error *error)
{
    return error_set(error, CW_ENOMEM, "out of memory");
}
