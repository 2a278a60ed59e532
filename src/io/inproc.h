/*
 * Listeners inside this process, found by name from any thread. Connecting makes a pair of sockets
 * and leaves one end in the listener's queue; how its loop is woken is the listener's affair.
 * Everything here may be called from any thread.
 */
#ifndef IO_INPROC_H
#define IO_INPROC_H

struct inproc;

/* Takes a name. The wake callback runs on the connecting thread, under the registry's lock: it may
 * only signal. 0, -EADDRINUSE or -ENOMEM. */
int inproc_open(const char *name, void (*wake)(void *context), void *context,
                struct inproc **ret_inproc);
/* Gives the name back and closes what nobody accepted; no wake comes after it. */
void inproc_close(struct inproc **inproc);

/* The next waiting end, or -EAGAIN. */
int inproc_accept(struct inproc *inproc);
/* Our end of a new connection, or -ECONNREFUSED when nobody listens or the queue is full, or
 * another negative errno. */
int inproc_connect(const char *name);
/* 0 or -EADDRINUSE. */
int inproc_is_free(const char *name);

#endif
