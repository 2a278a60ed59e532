#include "control/address_check.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

enum { HOST_LEN_MAX = 240 };

static bool complain(char *ret_message, size_t size, const char *address, const char *why)
{
    snprintf(ret_message, size, "'%.100s' %s", address, why);
    return false;
}

/* 0 to 65535, or -1. */
static long read_port(const char *text)
{
    size_t len = strlen(text);
    if (len < 1 || len > 5 || strspn(text, "0123456789") != len)
        return -1;
    long port = strtol(text, NULL, 10);
    return port <= 65535 ? port : -1;
}

static bool is_host(const char *host, size_t len)
{
    if (len == 0 || len > HOST_LEN_MAX)
        return false;
    for (size_t i = 0; i < len; i++)
        if (!isalnum((unsigned char)host[i]) && !strchr("-._", host[i]))
            return false;
    return true;
}

/* All digits and dots, so meant as an IPv4 address: then it must be one. */
static bool is_broken_v4(const char *host, size_t len)
{
    char text[HOST_LEN_MAX + 1];
    struct in_addr v4;
    if (strspn(host, "0123456789.") < len)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)len, host);
    return inet_pton(AF_INET, text, &v4) != 1;
}

static bool is_v6_in_brackets(const char *address, size_t len)
{
    char text[HOST_LEN_MAX + 1];
    struct in6_addr v6;
    if (len < 4 || len > HOST_LEN_MAX || address[0] != '[' || address[len - 1] != ']')
        return false;
    snprintf(text, sizeof text, "%.*s", (int)len - 2, address + 1);
    return inet_pton(AF_INET6, text, &v6) == 1;
}

static bool check_unix(const char *address, char *ret_message, size_t size)
{
    const char *path = address + strlen("unix:");
    if (*path != '/')
        return complain(ret_message, size, address,
                        "needs a whole path; write unix:/run/name.sock");
    if (strlen(path) >= sizeof((struct sockaddr_un *)NULL)->sun_path)
        return complain(ret_message, size, address, "is too long for a socket's path (107 bytes)");
    return true;
}

static bool check_host_port(const char *address, char *ret_message, size_t size)
{
    const char *colon = strrchr(address, ':');
    if (!colon || (address[0] == '[' && address[strlen(address) - 1] == ']'))
        return complain(ret_message, size, address, "has no port; write host:port");
    if (read_port(colon + 1) < 0)
        return complain(ret_message, size, address, "has no port between 0 and 65535");
    size_t host_len = (size_t)(colon - address);
    if (address[0] == '[')
        return is_v6_in_brackets(address, host_len) ||
               complain(ret_message, size, address, "has no IPv6 address in its brackets");
    if (memchr(address, ':', host_len))
        return complain(ret_message, size, address,
                        "has several colons; write an IPv6 address as [::1]:6379");
    if (!is_host(address, host_len) || is_broken_v4(address, host_len))
        return complain(ret_message, size, address, "has no valid host; write host:port");
    return true;
}

bool address_check(const char *address, char *ret_message, size_t message_size)
{
    if (strncmp(address, "unix:", 5) == 0)
        return check_unix(address, ret_message, message_size);
    if (strncmp(address, "inproc:", 7) == 0)
        return complain(ret_message, message_size, address,
                        "is for embedded nodes only; write host:port");
    return check_host_port(address, ret_message, message_size);
}

bool address_is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strncmp(address, "[::1]:", 6) == 0 ||
           strncmp(address, "localhost:", 10) == 0 || strncmp(address, "unix:", 5) == 0;
}

static bool is_wildcard(const char *address)
{
    return strncmp(address, "0.0.0.0:", 8) == 0 || strncmp(address, "[::]:", 5) == 0;
}

bool address_collides(const char *a, const char *b)
{
    if (strncmp(a, "unix:", 5) == 0 || strncmp(b, "unix:", 5) == 0)
        return strcmp(a, b) == 0;
    const char *a_port = strrchr(a, ':'), *b_port = strrchr(b, ':');
    if (!a_port || !b_port)
        return false;
    /* Port 0 is a free one of its own each time. */
    long port = read_port(a_port + 1);
    if (port <= 0 || port != read_port(b_port + 1))
        return false;
    if (is_wildcard(a) || is_wildcard(b))
        return true;
    return a_port - a == b_port - b && memcmp(a, b, (size_t)(a_port - a)) == 0;
}
