/*
 * Any bytes as a file that `clockwise import` reads; see import_target.h.
 */
#include "import_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    return import_target(&import_format_memcached_proxy, data, len);
}
