#include "cli/import_haproxy_server.h"

#include <stdio.h>
#include <string.h>

#include "cli/import_haproxy_words.h"

enum { WEIGHT_MAX = 256, NAMES_SIZE = 256, ADDRESS_SIZE = 300 };

static const char *word(const struct import_line *line, size_t index)
{
    return index < line->count ? line->words[index] : "";
}

static bool is(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

void haproxy_bad_server(struct import *import, const struct import_line *line,
                        struct haproxy_server *server, const char *text)
{
    server->is_bad = true;
    import_remark(import, IMPORT_WRONG, line->number, NULL, "server '%.60s': %s", word(line, 1),
                  text);
}

static void leave_out(struct haproxy_server *server, const char *option)
{
    if (server->left_out_count < HAPROXY_LEFT_OUT_MAX)
        server->left_out[server->left_out_count] = option;
    server->left_out_count++;
}

static void read_weight(struct import *import, const struct import_line *line,
                        struct haproxy_server *server, const char *text)
{
    uint64_t weight;
    if (import_number(text, WEIGHT_MAX, &weight))
        server->node.place.weight = (double)weight;
    else
        haproxy_bad_server(import, line, server, "the weight is not a number from 0 to 256");
}

static void read_id(struct import *import, const struct import_line *line,
                    struct haproxy_server *server, const char *text)
{
    uint64_t id;
    if (import_number(text, INT32_MAX, &id) && id > 0)
        server->node.place.number = (uint32_t)id;
    else
        haproxy_bad_server(import, line, server, "the id is not a number from 1 to 2147483647");
}

void haproxy_read_options(struct import *import, const struct import_line *line, size_t from,
                          struct haproxy_server *server)
{
    for (size_t i = from; i < line->count; i++) {
        const char *option = line->words[i];
        unsigned arguments = haproxy_server_arguments(option);
        const char *value = arguments ? word(line, i + 1) : "";
        if (arguments && i + 1 >= line->count) {
            import_remark(import, IMPORT_WRONG, line->number, option, "has no value; write one");
            server->is_bad = true;
        } else if (is(option, "weight"))
            read_weight(import, line, server, value);
        else if (is(option, "id"))
            read_id(import, line, server, value);
        else if (is(option, "guid"))
            server->node.place.name = value;
        else if (is(option, "hash-key"))
            server->server_key = value;
        else if (is(option, "disabled") || is(option, "enabled"))
            server->node.place.is_down = option[0] == 'd';
        else if (is(option, "backup"))
            server->is_backup = true;
        else
            leave_out(server, option);
        i += arguments;
    }
}

const char *haproxy_read_address(struct import *import, const char *text)
{
    char host[ADDRESS_SIZE];
    const char *at = strchr(text, '@');
    bool is_socket = strncmp(text, "unix@", 5) == 0;
    const char *bare = at ? at + 1 : text;
    const char *colon = strrchr(bare, ':');
    uint64_t port;
    if (is_socket || bare[0] == '/')
        return import_textf(import, "unix:%.255s", bare);
    if (!colon || !import_number(colon + 1, 65535, &port) || port == 0 || colon == bare ||
        (size_t)(colon - bare) >= sizeof host)
        return NULL;
    memcpy(host, bare, (size_t)(colon - bare));
    host[colon - bare] = 0;
    return import_address(import, host, colon + 1);
}

void haproxy_tell_left_out(struct import *import, const struct import_line *line,
                           const struct haproxy_server *server)
{
    char names[NAMES_SIZE] = "";
    size_t shown = server->left_out_count < HAPROXY_LEFT_OUT_MAX ? server->left_out_count
                                                                 : HAPROXY_LEFT_OUT_MAX;
    for (size_t i = 0; i < shown; i++) {
        size_t len = strlen(names);
        snprintf(names + len, sizeof names - len, "%s%.24s", i ? ", " : "", server->left_out[i]);
    }
    if (server->left_out_count)
        import_remark(import, IMPORT_NOTE, line->number, NULL,
                      "server '%.60s': not carried over: %s%s", word(line, 1), names,
                      server->left_out_count > shown ? ", ..." : "");
}
