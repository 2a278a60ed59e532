#include "control/admin_guard.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* "application/json", whatever parameters stand behind it. */
static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    size_t len = sizeof json - 1;
    if (!type || strncasecmp(type, json, len) != 0)
        return false;
    return type[len + strspn(type + len, " \t")] == 0 ||
           type[len + strspn(type + len, " \t")] == ';';
}

/* A literal address, or localhost; with a port or without. */
static bool is_local_host(const char *host)
{
    static const char name[] = "localhost";
    size_t len = strcspn(host, ":");
    if (host[0] == '[')
        return strncmp(host, "[::1]", 5) == 0;
    if (len == sizeof name - 1 && strncasecmp(host, name, len) == 0)
        return true;
    return strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == len;
}

const char *admin_guard_change(const struct admin_headers *headers, bool is_loopback,
                               unsigned *ret_code)
{
    *ret_code = 403;
    if (headers->origin || headers->fetch_site)
        return "a web page may not change a fleet: the question has an Origin or Sec-Fetch-Site; "
               "use `clockwise`, or a client that is no browser";
    if (is_loopback && headers->host && !is_local_host(headers->host))
        return "Host is not this machine; ask 127.0.0.1, [::1] or localhost by that name";
    *ret_code = 415;
    if (!is_json(headers->content_type))
        return "the question is not said to be JSON; send the header Content-Type: "
               "application/json";
    return NULL;
}
