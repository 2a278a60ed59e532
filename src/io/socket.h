/*
 * The operating system's stream sockets, set as we want all of ours: non-blocking, closed on exec,
 * TCP without Nagle's delay and with keep-alive. Used by io_uv.c; no loop is known here.
 */
#ifndef IO_SOCKET_H
#define IO_SOCKET_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "io/address.h"

/* A socket that listens on a TCP or unix address, which now has the port that was taken. A host
 * name is resolved at once, blocking. TCP ports are shared with the user's other sockets
 * (SO_REUSEPORT), so that every worker has a queue of its own: see socket_address_is_free(). The
 * file of a unix socket that nobody listens on any more is replaced. 0 or a negative errno. */
int socket_listen(struct address *address, int *ret_fd);

/* 0 when nobody listens on the address, else -EADDRINUSE or another reason why it can't be had
 * (-EACCES, -EADDRNOTAVAIL, ...). Blocking for a host name. */
int socket_address_is_free(const struct address *address);

/* Starts to connect: 0 with a socket that becomes writable when it is decided, or a negative errno
 * when it is decided already. */
int socket_connect(const struct sockaddr *sockaddr, socklen_t len, int *ret_fd);
/* The outcome once it is writable: 0 or a negative errno. */
int socket_connect_result(int fd);

/* An accepted socket, or a negative errno: -EAGAIN when nobody waits. */
int socket_accept(int listen_fd);
/* Two ends of a connection inside this process. 0 or a negative errno. */
int socket_pair(int ret_fds[2]);

/* As io_read() and io_write(); never raises SIGPIPE. */
ssize_t socket_read(int fd, void *bytes, size_t len);
ssize_t socket_write(int fd, const struct iovec *parts, int part_count);

#endif
