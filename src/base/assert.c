#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void assert_failed(const char *condition, const char *file, int line, const char *func)
{
    fprintf(stderr, "%s:%d: %s: assertion failed: %s\n", file, line, func, condition);
    abort();
}
