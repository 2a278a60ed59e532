#include "cli/import_haproxy_words.h"

#include <stdlib.h>
#include <string.h>

static bool is_among(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

bool haproxy_is_section(const char *word)
{
    static const char *const words[] = {
        "global",      "defaults",    "frontend",  "backend",     "listen", "peers",    "resolvers",
        "mailers",     "userlist",    "program",   "http-errors", "cache",  "fcgi-app", "ring",
        "log-forward", "log-profile", "crt-store", "traces",      "acme",   NULL};
    return is_among(word, words);
}

unsigned haproxy_server_arguments(const char *option)
{
    /* Those that a value follows, each between blanks. */
    static const char words[] =
        " addr agent-addr agent-inter agent-port agent-send alpn ca-file check-alpn "
        "check-proto check-sni ciphers ciphersuites client-sigalgs cookie crl-file crt curves "
        "downinter error-limit fall fastinter guid hash-key id idle-ping init-addr init-state "
        "inter log-bufsize log-proto max-reuse maxconn maxqueue minconn namespace npn observe "
        "on-error on-marked-down on-marked-up pool-conn-name pool-low-conn pool-max-conn "
        "pool-purge-delay port proto redir resolve-net resolve-opts resolve-prefer resolvers "
        "rise shard sigalgs slowstart sni socks4 source ssl-max-ver ssl-min-ver tcp-md5sig "
        "tcp-ut track usesrc verify verifyhost weight ws ";
    size_t len = strlen(option);
    if (len == 0 || strchr(option, ' '))
        return 0;
    for (const char *at = words + 1; (at = strstr(at, option)) != NULL; at++)
        if (at[-1] == ' ' && at[len] == ' ')
            return 1;
    return 0;
}

bool haproxy_is_function(const char *name)
{
    static const char *const words[] = {"sdbm", "djb2", "wt6", "crc32", "none", NULL};
    return is_among(name, words);
}

const char *haproxy_balance_key(const char *method)
{
    if (strcmp(method, "uri") == 0)
        return "the key is the request's path, without what stands behind the ?";
    if (strncmp(method, "url_param", 9) == 0)
        return "the key is the value of that parameter";
    if (strncmp(method, "hdr(", 4) == 0)
        return "the key is the header's value up to its first comma";
    if (strncmp(method, "rdp-cookie", 10) == 0)
        return "the key is the value of that cookie";
    if (strcmp(method, "hash") == 0)
        return "the key is the value of that expression";
    return NULL;
}

bool haproxy_is_silent(const char *word)
{
    static const char *const words[] = {"mode", "description", "id", "enabled", NULL};
    return is_among(word, words);
}

bool haproxy_duration(const char *text, uint32_t *ret_ms)
{
    static const struct {
        const char *name;
        double ms;
    } units[] = {{"", 1},    {"us", 0.001}, {"ms", 1},   {"s", 1e3},
                 {"m", 6e4}, {"h", 36e5},   {"d", 864e5}};
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 9)
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(text + digits, units[i].name) != 0)
            continue;
        double ms = (double)strtoul(text, NULL, 10) * units[i].ms;
        *ret_ms = ms < 1 ? 1 : ms > 36e5 ? 3600000 : (uint32_t)ms;
        return ms > 0;
    }
    return false;
}
