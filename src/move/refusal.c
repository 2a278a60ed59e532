#include "move/refusal.h"

#include <stdio.h>
#include <string.h>

#include "move/answer.h"

static const struct {
    const char *start, *remedy;
} refusals[] = {
    {"OOM", "it has reached its maxmemory: raise it or free memory"},
    {"READONLY", "it is a read-only replica: give the address of its primary"},
    {"MISCONF", "it cannot save to disk and stopped taking writes: look at its log"},
    {"NOREPLICAS", "it has too few good replicas (min-replicas-to-write)"},
    {"NOAUTH", "it wants a password: give the pool's `password:` and start the router again"},
    {"WRONGPASS", "it does not take the pool's `username:` or `password:`: correct them and start "
                  "the router again"},
    {"ERR AUTH", "it has no password: give it one, or take the pool's `password:` out and start "
                 "the router again"},
    {"NOPERM", "the pool's user may not do that there: the guide lists what its ACL must allow"},
    {"MOVED", "it runs in cluster mode, which has a placement of its own"},
    {"ERR keys that begin with", "it is a router and no server: give the address of a server"},
    {"ERR unknown command", "keys can be moved between servers of Redis 7.0 or later"},
};

const char *refusal_printable(struct slice key, char *ret_text, size_t size)
{
    size_t len = 0;
    for (size_t i = 0; i < key.len && len + 4 < size; i++) {
        unsigned char byte = (unsigned char)key.ptr[i];
        ret_text[len++] = byte >= 0x20 && byte < 0x7f ? (char)byte : '?';
    }
    if (len < key.len)
        len += (size_t)snprintf(ret_text + len, size - len, "...");
    ret_text[len] = '\0';
    return ret_text;
}

const char *refusal_remedy(struct slice error)
{
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++)
        if (answer_error_is(error, refusals[i].start))
            return refusals[i].remedy;
    return NULL;
}

enum job_result refusal_read(const char *node_id, struct slice error,
                             char ret_problem[static MOVE_PROBLEM_SIZE])
{
    char text[160];
    const char *remedy = refusal_remedy(error);
    snprintf(ret_problem, MOVE_PROBLEM_SIZE, "node '%s' answered: %s%s%s%s", node_id,
             refusal_printable(error, text, sizeof text), remedy ? " (" : "", remedy ? remedy : "",
             remedy ? ")" : "");
    return remedy ? JOB_REFUSED : JOB_FAILED;
}
