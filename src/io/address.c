#include "io/address.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/assert.h"

static_assert(ADDRESS_PATH_LEN_MAX + 1 == sizeof(((struct sockaddr_un *)0)->sun_path),
              "a unix path fits its socket address");
static_assert(ADDRESS_HOST_LEN_MAX + sizeof "[]:65535" < IO_ADDRESS_LEN_MAX &&
                  ADDRESS_NAME_LEN_MAX + sizeof "inproc:" < IO_ADDRESS_LEN_MAX,
              "every address fits its text");

/* ---- checks: each gives NULL or the reason --------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_host_char(char c)
{
    /* The underscore is no host name's by the letter, but container names use it. */
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

static const char *check_host_name(const char *host)
{
    size_t label_len = 0;
    for (const char *c = host; *c; c++) {
        if (*c == '.') {
            if (label_len == 0)
                return "the host name has an empty part";
            label_len = 0;
        } else if (!is_host_char(*c)) {
            return "the host name has a character that no host name may have";
        } else if (++label_len > 63) {
            return "a part of the host name is longer than 63 characters";
        }
    }
    return host[0] == '-' ? "the host name starts with '-'" : NULL;
}

static const char *check_host(const char *host)
{
    struct in_addr v4;
    if (host[0] == 0)
        return "the host is missing";
    if (strspn(host, "0123456789.") == strlen(host))
        return inet_pton(AF_INET, host, &v4) == 1 ? NULL : "not an IPv4 address";
    return check_host_name(host);
}

static int v6_of(const char *host, struct in6_addr *ret_addr, unsigned *ret_scope)
{
    char bare[INET6_ADDRSTRLEN];
    size_t len = strcspn(host, "%");
    if (len >= sizeof bare)
        return -EINVAL;
    memcpy(bare, host, len);
    bare[len] = 0;
    if (inet_pton(AF_INET6, bare, ret_addr) != 1)
        return -EINVAL;
    *ret_scope = host[len] ? if_nametoindex(host + len + 1) : 0;
    return 0;
}

static const char *check_v6(const char *host)
{
    struct in6_addr addr;
    unsigned scope;
    return v6_of(host, &addr, &scope) == 0 ? NULL : "not an IPv6 address";
}

static const char *parse_port(const char *text, uint16_t *ret_port)
{
    unsigned port = 0;
    if (*text == 0)
        return "the port is missing";
    for (; *text; text++) {
        if (!is_digit(*text))
            return "the port is not a number";
        port = port * 10 + (unsigned)(*text - '0');
        if (port > 65535)
            return "the port is above 65535";
    }
    *ret_port = (uint16_t)port;
    return NULL;
}

/* ---- the three kinds ------------------------------------------------------------------------- */

static int fail(int error, const char *reason, const char **ret_reason)
{
    if (ret_reason)
        *ret_reason = reason;
    return error;
}

static int take_text(struct address *address, const char *text, size_t len, size_t len_max,
                     const char *too_long, const char **ret_reason)
{
    if (len > len_max)
        return fail(-ENAMETOOLONG, too_long, ret_reason);
    memcpy(address->host, text, len);
    address->host[len] = 0;
    return 0;
}

static int parse_unix(const char *path, struct address *address, const char **ret_reason)
{
    address->kind = ADDRESS_UNIX;
    if (*path == 0)
        return fail(-EINVAL, "the path after unix: is missing", ret_reason);
    return take_text(address, path, strlen(path), ADDRESS_PATH_LEN_MAX,
                     "the path of a unix socket may have 107 bytes at most", ret_reason);
}

static int parse_inproc(const char *name, struct address *address, const char **ret_reason)
{
    address->kind = ADDRESS_INPROC;
    if (*name == 0)
        return fail(-EINVAL, "the name after inproc: is missing", ret_reason);
    for (const char *c = name; *c; c++)
        if (*c <= ' ' || *c > '~')
            return fail(-EINVAL, "the name after inproc: has a space or a control character",
                        ret_reason);
    return take_text(address, name, strlen(name), ADDRESS_NAME_LEN_MAX,
                     "the name after inproc: is longer than 200 characters", ret_reason);
}

static int parse_bracketed(const char *text, struct address *address, const char **ret_reason)
{
    const char *end = strchr(text, ']');
    if (!end)
        return fail(-EINVAL, "the closing ']' is missing", ret_reason);
    if (end[1] != ':')
        return fail(-EINVAL, "the port is missing (write [host]:port)", ret_reason);
    int rc = take_text(address, text + 1, (size_t)(end - text - 1), ADDRESS_HOST_LEN_MAX,
                       "the host is longer than 253 characters", ret_reason);
    if (rc != 0)
        return rc;
    const char *reason = check_v6(address->host);
    if (!reason)
        reason = parse_port(end + 2, &address->port);
    return reason ? fail(-EINVAL, reason, ret_reason) : 0;
}

static int parse_host_port(const char *text, struct address *address, const char **ret_reason)
{
    const char *colon = strchr(text, ':');
    if (!colon)
        return fail(-EINVAL, "the port is missing (write host:port)", ret_reason);
    if (strchr(colon + 1, ':'))
        return fail(-EINVAL, "an IPv6 address needs brackets (write [host]:port)", ret_reason);
    int rc = take_text(address, text, (size_t)(colon - text), ADDRESS_HOST_LEN_MAX,
                       "the host is longer than 253 characters", ret_reason);
    if (rc != 0)
        return rc;
    const char *reason = check_host(address->host);
    if (!reason)
        reason = parse_port(colon + 1, &address->port);
    return reason ? fail(-EINVAL, reason, ret_reason) : 0;
}

int address_parse(const char *text, struct address *ret_address, const char **ret_reason)
{
    struct address address = {.kind = ADDRESS_TCP};
    int rc;
    if (strncmp(text, "unix:", 5) == 0)
        rc = parse_unix(text + 5, &address, ret_reason);
    else if (strncmp(text, "inproc:", 7) == 0)
        rc = parse_inproc(text + 7, &address, ret_reason);
    else if (text[0] == '[')
        rc = parse_bracketed(text, &address, ret_reason);
    else
        rc = parse_host_port(text, &address, ret_reason);
    if (rc == 0)
        *ret_address = address;
    return rc;
}

const char *address_problem(const char *text)
{
    struct address address;
    const char *reason = NULL;
    address_parse(text, &address, &reason);
    return reason;
}

void address_format(const struct address *address, char ret_text[static IO_ADDRESS_LEN_MAX])
{
    if (address->kind == ADDRESS_UNIX)
        snprintf(ret_text, IO_ADDRESS_LEN_MAX, "unix:%s", address->host);
    else if (address->kind == ADDRESS_INPROC)
        snprintf(ret_text, IO_ADDRESS_LEN_MAX, "inproc:%s", address->host);
    else if (strchr(address->host, ':'))
        snprintf(ret_text, IO_ADDRESS_LEN_MAX, "[%s]:%u", address->host, address->port);
    else
        snprintf(ret_text, IO_ADDRESS_LEN_MAX, "%s:%u", address->host, address->port);
}

/* ---- socket addresses ------------------------------------------------------------------------ */

/* Each kind is written through a type of its own and copied: no aliasing of sockaddr_storage. */
static int unix_to_sockaddr(const char *path, struct sockaddr_storage *ret_sockaddr,
                            socklen_t *ret_len)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    size_t len = strlen(path);
    CW_ASSERT(len <= ADDRESS_PATH_LEN_MAX);
    memcpy(un.sun_path, path, len + 1);
    memcpy(ret_sockaddr, &un, sizeof un);
    *ret_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
    return 0;
}

int address_to_sockaddr(const struct address *address, struct sockaddr_storage *ret_sockaddr,
                        socklen_t *ret_len)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(address->port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(address->port)};
    CW_ASSERT(address->kind != ADDRESS_INPROC);
    memset(ret_sockaddr, 0, sizeof *ret_sockaddr);
    if (address->kind == ADDRESS_UNIX)
        return unix_to_sockaddr(address->host, ret_sockaddr, ret_len);
    if (inet_pton(AF_INET, address->host, &v4.sin_addr) == 1) {
        memcpy(ret_sockaddr, &v4, sizeof v4);
        *ret_len = sizeof v4;
        return 0;
    }
    if (v6_of(address->host, &v6.sin6_addr, &v6.sin6_scope_id) == 0) {
        memcpy(ret_sockaddr, &v6, sizeof v6);
        *ret_len = sizeof v6;
        return 0;
    }
    return -EADDRNOTAVAIL;
}

static void format_v4(const struct sockaddr_storage *sockaddr, char *text)
{
    struct sockaddr_in v4;
    char host[INET_ADDRSTRLEN];
    memcpy(&v4, sockaddr, sizeof v4);
    inet_ntop(AF_INET, &v4.sin_addr, host, sizeof host);
    snprintf(text, IO_ADDRESS_LEN_MAX, "%s:%u", host, ntohs(v4.sin_port));
}

static void format_v6(const struct sockaddr_storage *sockaddr, char *text)
{
    struct sockaddr_in6 v6;
    char host[INET6_ADDRSTRLEN];
    memcpy(&v6, sockaddr, sizeof v6);
    inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof host);
    snprintf(text, IO_ADDRESS_LEN_MAX, "[%s]:%u", host, ntohs(v6.sin6_port));
}

static void format_unix(const struct sockaddr_storage *sockaddr, socklen_t len, char *text)
{
    struct sockaddr_un un = {0};
    memcpy(&un, sockaddr, len < sizeof un ? len : sizeof un);
    size_t path_len = strnlen(un.sun_path, sizeof un.sun_path);
    if (path_len == 0)
        snprintf(text, IO_ADDRESS_LEN_MAX, "?");
    else
        snprintf(text, IO_ADDRESS_LEN_MAX, "unix:%.*s", (int)path_len, un.sun_path);
}

void address_format_sockaddr(const struct sockaddr_storage *sockaddr, socklen_t len,
                             char ret_text[static IO_ADDRESS_LEN_MAX])
{
    if (sockaddr->ss_family == AF_INET)
        format_v4(sockaddr, ret_text);
    else if (sockaddr->ss_family == AF_INET6)
        format_v6(sockaddr, ret_text);
    else if (sockaddr->ss_family == AF_UNIX)
        format_unix(sockaddr, len, ret_text);
    else
        snprintf(ret_text, IO_ADDRESS_LEN_MAX, "?");
}
