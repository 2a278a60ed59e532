#include "control/address_check.h"

#include <stdio.h>
#include <string.h>

#include "io/address.h"

bool address_check(const char *address, char *ret_message, size_t message_size)
{
    const char *reason = address_problem(address);
    if (strncmp(address, "inproc:", 7) == 0)
        reason = "inproc: is for embedded nodes, which get it by themselves";
    if (!reason)
        return true;
    snprintf(ret_message, message_size, "'%.100s' is no address: %s", address, reason);
    return false;
}

bool address_is_loopback(const char *text)
{
    struct address address;
    if (address_parse(text, &address, NULL) < 0)
        return false;
    if (address.kind != ADDRESS_TCP)
        return true;
    return strncmp(address.host, "127.", 4) == 0 || strcmp(address.host, "::1") == 0 ||
           strcmp(address.host, "localhost") == 0;
}

bool address_has_port_zero(const char *text)
{
    struct address address;
    return address_parse(text, &address, NULL) == 0 && address.kind == ADDRESS_TCP &&
           address.port == 0;
}

bool address_has_one_listener(const char *text)
{
    return strncmp(text, "unix:", 5) == 0 || address_has_port_zero(text);
}

static bool is_wildcard(const struct address *address)
{
    return strcmp(address->host, "0.0.0.0") == 0 || strcmp(address->host, "::") == 0;
}

bool address_collides(const char *one, const char *other)
{
    struct address a, b;
    if (address_parse(one, &a, NULL) < 0 || address_parse(other, &b, NULL) < 0 || a.kind != b.kind)
        return false;
    if (a.kind == ADDRESS_TCP && (a.port != b.port || a.port == 0))
        return false;
    return strcmp(a.host, b.host) == 0 ||
           (a.kind == ADDRESS_TCP && (is_wildcard(&a) || is_wildcard(&b)));
}
