/*
 * Whether a text is an address that the router can listen on or connect to: "host:port",
 * "[v6]:port" or "unix:/path". Only its form; nothing is resolved.
 */
#ifndef CONTROL_ADDRESS_CHECK_H
#define CONTROL_ADDRESS_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* False when it is none: the message says why and what would be right. */
bool address_check(const char *address, char *ret_message, size_t message_size);

/* Whether an address with a port is one of this machine alone: 127.*, [::1], localhost, unix:. */
bool address_is_loopback(const char *address);

/* Whether two listeners on these addresses would be one: equal, or equal ports where one of the
 * hosts is a wildcard (0.0.0.0, [::]). */
bool address_collides(const char *a, const char *b);

#endif
