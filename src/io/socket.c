#include "io/socket.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LISTEN_BACKLOG = 1024,
    /* A peer that vanished without a word is found out after 5 + 3 x 1 minutes. */
    KEEPALIVE_IDLE_S = 300,
    KEEPALIVE_INTERVAL_S = 60,
    KEEPALIVE_PROBES = 3,
};

/* Our options only ever tune a fresh socket: where one is not to be had, the socket works without.
 */
static void set_option(int fd, int level, int option, int value)
{
    (void)setsockopt(fd, level, option, &value, sizeof value);
}

static void set_tcp_options(int fd)
{
    set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
    set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
    set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_IDLE_S);
    set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_INTERVAL_S);
    set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
}

static int new_socket(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (family != AF_UNIX)
        set_tcp_options(fd);
    return fd;
}

static int close_and_return(int fd, int error)
{
    close(fd);
    return error;
}

/* ---- listening ------------------------------------------------------------------------------- */

static int errno_of_gai(int error)
{
    switch (error) {
    case EAI_SYSTEM: return -errno;
    case EAI_MEMORY: return -ENOMEM;
    case EAI_AGAIN: return -ETIMEDOUT;
    default: return -EADDRNOTAVAIL;
    }
}

static int resolve_blocking(const struct address *address, struct sockaddr_storage *ret_sockaddr,
                            socklen_t *ret_len)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found;
    char port[8];
    int rc = address_to_sockaddr(address, ret_sockaddr, ret_len);
    if (rc != -EADDRNOTAVAIL)
        return rc;
    snprintf(port, sizeof port, "%u", address->port);
    rc = getaddrinfo(address->host, port, &hints, &found);
    if (rc != 0)
        return errno_of_gai(rc);
    memcpy(ret_sockaddr, found->ai_addr, found->ai_addrlen);
    *ret_len = found->ai_addrlen;
    freeaddrinfo(found);
    return 0;
}

static int bind_and_listen(int fd, const struct sockaddr_storage *sockaddr, socklen_t len)
{
    if (bind(fd, (const struct sockaddr *)sockaddr, len) != 0)
        return -errno;
    return listen(fd, LISTEN_BACKLOG) == 0 ? 0 : -errno;
}

static void take_bound_port(struct address *address, int fd)
{
    struct sockaddr_storage sockaddr;
    struct sockaddr_in v4;
    socklen_t len = sizeof sockaddr;
    if (getsockname(fd, (struct sockaddr *)&sockaddr, &len) != 0)
        return;
    memcpy(&v4, &sockaddr, sizeof v4); /* sockaddr_in6 has its port at the same place */
    address->port = ntohs(v4.sin_port);
}

static int listen_tcp(struct address *address, int *ret_fd)
{
    struct sockaddr_storage sockaddr;
    socklen_t len;
    int rc = resolve_blocking(address, &sockaddr, &len);
    if (rc != 0)
        return rc;
    int fd = new_socket(sockaddr.ss_family);
    if (fd < 0)
        return fd;
    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    rc = bind_and_listen(fd, &sockaddr, len);
    if (rc != 0)
        return close_and_return(fd, rc);
    take_bound_port(address, fd);
    *ret_fd = fd;
    return 0;
}

/* Only a connect tells whether somebody still listens on a unix socket's file. */
static int unix_path_is_free(const struct address *address)
{
    struct sockaddr_storage sockaddr;
    struct stat status;
    socklen_t len;
    int fd;
    if (lstat(address->host, &status) != 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISSOCK(status.st_mode))
        return -EADDRINUSE;
    address_to_sockaddr(address, &sockaddr, &len);
    int rc = socket_connect((const struct sockaddr *)&sockaddr, len, &fd);
    if (rc == 0)
        close(fd);
    return rc == -ECONNREFUSED ? 0 : -EADDRINUSE;
}

static int listen_unix(const struct address *address, int *ret_fd)
{
    struct sockaddr_storage sockaddr;
    socklen_t len;
    int rc = unix_path_is_free(address);
    if (rc != 0)
        return rc;
    int fd = new_socket(AF_UNIX);
    if (fd < 0)
        return fd;
    (void)unlink(address->host);
    address_to_sockaddr(address, &sockaddr, &len);
    rc = bind_and_listen(fd, &sockaddr, len);
    if (rc != 0)
        return close_and_return(fd, rc);
    *ret_fd = fd;
    return 0;
}

int socket_listen(struct address *address, int *ret_fd)
{
    if (address->kind == ADDRESS_UNIX)
        return listen_unix(address, ret_fd);
    return listen_tcp(address, ret_fd);
}

/* Without SO_REUSEPORT the bind fails when anybody listens there, ourselves included. With
 * SO_REUSEADDR it does not fail for the old connections of a server that was just stopped. */
static int tcp_address_is_free(const struct address *address)
{
    struct sockaddr_storage sockaddr;
    socklen_t len;
    int rc = resolve_blocking(address, &sockaddr, &len);
    if (rc != 0)
        return rc;
    int fd = new_socket(sockaddr.ss_family);
    if (fd < 0)
        return fd;
    set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    rc = bind(fd, (const struct sockaddr *)&sockaddr, len) == 0 ? 0 : -errno;
    return close_and_return(fd, rc);
}

int socket_address_is_free(const struct address *address)
{
    return address->kind == ADDRESS_UNIX ? unix_path_is_free(address)
                                         : tcp_address_is_free(address);
}

/* ---- connections ----------------------------------------------------------------------------- */

int socket_connect(const struct sockaddr *sockaddr, socklen_t len, int *ret_fd)
{
    int fd = new_socket(sockaddr->sa_family);
    if (fd < 0)
        return fd;
    if (connect(fd, sockaddr, len) != 0 && errno != EINPROGRESS && errno != EINTR) {
        /* EAGAIN: the queue of a unix listener is full. There is no waiting for room in it, and
         * -EAGAIN must not reach the owner, to whom it means "nothing yet". */
        return close_and_return(fd, errno == EAGAIN ? -ECONNREFUSED : -errno);
    }
    *ret_fd = fd;
    return 0;
}

int socket_connect_result(int fd)
{
    int error = 0;
    socklen_t len = sizeof error;
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
        return -errno;
    return -error;
}

int socket_accept(int listen_fd)
{
    struct sockaddr_storage sockaddr;
    socklen_t len = sizeof sockaddr;
    int fd = accept4(listen_fd, (struct sockaddr *)&sockaddr, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (sockaddr.ss_family != AF_UNIX)
        set_tcp_options(fd);
    return fd;
}

int socket_pair(int ret_fds[2])
{
    int flags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    return socketpair(AF_UNIX, flags, 0, ret_fds) == 0 ? 0 : -errno;
}

ssize_t socket_read(int fd, void *bytes, size_t len)
{
    ssize_t count;
    do
        count = recv(fd, bytes, len, 0);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}

ssize_t socket_write(int fd, const struct iovec *parts, int part_count)
{
    struct msghdr message = {0};
    ssize_t count;
    memcpy(&message.msg_iov, &parts, sizeof parts); /* sendmsg() does not write to it */
    message.msg_iovlen = (size_t)(part_count < IOV_MAX ? part_count : IOV_MAX);
    do /* mostly there is one part, for which the kernel has a shorter way */
        count = part_count == 1 ? send(fd, parts->iov_base, parts->iov_len, MSG_NOSIGNAL)
                                : sendmsg(fd, &message, MSG_NOSIGNAL);
    while (count < 0 && errno == EINTR);
    return count < 0 ? -errno : count;
}
