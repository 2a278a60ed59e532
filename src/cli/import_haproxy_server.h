/*
 * A `server` line of HAProxy, or a `default-server`.
 */
#ifndef CLI_IMPORT_HAPROXY_SERVER_H
#define CLI_IMPORT_HAPROXY_SERVER_H

#include "cli/import.h"
#include "cli/import_words.h"

enum { HAPROXY_LEFT_OUT_MAX = 8 };

/* One server's words, while they are read. */
struct haproxy_server {
    struct import_node node;
    bool is_backup, is_bad;                     /* bad: after a remark */
    const char *server_key;                     /* hash-key; NULL: not said */
    const char *left_out[HAPROXY_LEFT_OUT_MAX]; /* options that are not carried over */
    size_t left_out_count;                      /* of all, those that are not kept too */
};

/* The words behind the address, or those of default-server. */
void haproxy_read_options(struct import *import, const struct import_line *line, size_t from,
                          struct haproxy_server *server);
/* "10.0.0.1:80", "[::1]:80", "::1:80", with a family in front or not; NULL where it has no port. */
const char *haproxy_read_address(struct import *import, const char *text);
/* Remarks that name the server of the line. */
void haproxy_bad_server(struct import *import, const struct import_line *line,
                        struct haproxy_server *server, const char *text);
void haproxy_tell_left_out(struct import *import, const struct import_line *line,
                           const struct haproxy_server *server);

#endif
