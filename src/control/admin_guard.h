/*
 * Whether a question that would change something may come from where it says: a person's or a
 * program's, never that of a web page which a browser somewhere was made to show. The admin address
 * has no password, and browsers reach loopback.
 *
 * A page can send a POST to any address, but not one with the type application/json unless it asks
 * first (which is refused), and browsers add Origin and Sec-Fetch-Site to what pages send. A name
 * that a page's owner points at 127.0.0.1 shows in Host.
 */
#ifndef CONTROL_ADMIN_GUARD_H
#define CONTROL_ADMIN_GUARD_H

#include <stdbool.h>

struct admin_headers { /* NULL: not sent */
    const char *content_type, *origin, *fetch_site, *host;
};

/* NULL, or a sentence with its remedy that says why not; *ret_code is then the code of HTTP.
 * is_loopback: the admin address is one of this machine alone, so that Host must be, too. */
const char *admin_guard_change(const struct admin_headers *headers, bool is_loopback,
                               unsigned *ret_code);

#endif
