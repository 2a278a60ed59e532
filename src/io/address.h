/*
 * Addresses as people write them: "host:port", "[v6]:port", "unix:/path", "inproc:name". Taking
 * them apart, saying what is wrong with one, and turning them into socket addresses and back.
 * Nothing here asks the network: a host name stays a name.
 */
#ifndef IO_ADDRESS_H
#define IO_ADDRESS_H

#include <stdint.h>
#include <sys/socket.h>

#include "io/io.h"

enum {
    ADDRESS_HOST_LEN_MAX = 253, /* of a DNS name */
    ADDRESS_PATH_LEN_MAX = 107, /* of sun_path, with its zero byte 108 */
    ADDRESS_NAME_LEN_MAX = 200, /* of an inproc name */
};

enum address_kind { ADDRESS_TCP, ADDRESS_UNIX, ADDRESS_INPROC };

struct address {
    enum address_kind kind;
    uint16_t port; /* TCP only; 0 means "any free one" and suits a listener alone */
    char host[ADDRESS_HOST_LEN_MAX + 1]; /* without brackets; the path; or the inproc name */
};

/* NULL when the text is an address, else what is wrong with it (static text, no full stop). */
const char *address_problem(const char *text);

/* Takes an address apart. 0, -EINVAL, or -ENAMETOOLONG; ret_reason (may be NULL) then says what is
 * wrong, as address_problem() does. */
int address_parse(const char *text, struct address *ret_address, const char **ret_reason);

/* The text that address_parse() would read back. */
void address_format(const struct address *address, char ret_text[static IO_ADDRESS_LEN_MAX]);

/* The socket address of a unix path or of a numeric host. 0, or -EADDRNOTAVAIL for a host name,
 * which has to be resolved first. Not for inproc. */
int address_to_sockaddr(const struct address *address, struct sockaddr_storage *ret_sockaddr,
                        socklen_t *ret_len);

/* "1.2.3.4:5", "[::1]:5", "unix:/path", or "?" where a socket has no name. */
void address_format_sockaddr(const struct sockaddr_storage *sockaddr, socklen_t len,
                             char ret_text[static IO_ADDRESS_LEN_MAX]);

#endif
