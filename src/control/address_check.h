/*
 * What the configuration asks about addresses. Only their form; nothing is resolved.
 */
#ifndef CONTROL_ADDRESS_CHECK_H
#define CONTROL_ADDRESS_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a person may write it: "host:port", "[v6]:port" or "unix:/path". False when it is none of
 * these: the message says why and what would be right. */
bool address_check(const char *address, char *ret_message, size_t message_size);

/* Whether an address with a port is one of this machine alone: 127.*, [::1], localhost, unix:. */
bool address_is_loopback(const char *address);

/* Whether it is TCP with port 0, "any free one", which suits a listener alone. */
bool address_has_port_zero(const char *address);

/* Whether several workers cannot share it: a unix socket has one listener, and port 0 is another
 * port for each. */
bool address_has_one_listener(const char *address);

/* Whether two listeners on these addresses would be one: equal, or equal ports where one of the
 * hosts is a wildcard (0.0.0.0, [::]). */
bool address_collides(const char *a, const char *b);

#endif
