/*
 * The settings of a map by name: one table says what each is, where it stands in the options and
 * how it is read from text.
 */
#include "profiles/profile.h"

#include "placement/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { TEXT, NUMBER, REAL, YES_NO };

struct setting {
    enum cw_profile_setting bit;
    const char *name;
    enum kind kind;
    size_t offset;
    const char *help;
};

#define AT(member) offsetof(struct cw_profile_options, member)

static const struct setting settings[] = {
    {CW_PROFILE_HASH, "hash", TEXT, AT(hash), "the key's hash, by the system's name for it"},
    {CW_PROFILE_TAG, "tag", TEXT, AT(tag),
     "two characters: only what stands between them in a key is hashed"},
    {CW_PROFILE_STOP, "stop", TEXT, AT(stop), "only the part of a key before this is hashed"},
    {CW_PROFILE_SALT, "salt", TEXT, AT(salt), "mcrouter's salt, the memcached proxy's seed"},
    {CW_PROFILE_SERVER_KEY, "server_key", TEXT, AT(server_key),
     "HAProxy's hash-key: id, id32, addr, addr-port or guid"},
    {CW_PROFILE_POINTS, "points", NUMBER, AT(points),
     "points or virtual nodes a server or unit of weight"},
    {CW_PROFILE_SIZE, "size", NUMBER, AT(size), "partitions, buckets, table or least ring size"},
    {CW_PROFILE_SIZE_MAX, "size_max", NUMBER, AT(size_max), "the greatest ring size"},
    {CW_PROFILE_LOAD, "load", REAL, AT(load), "the load factor"},
    {CW_PROFILE_REPLICATION, "replication", TEXT, AT(replication),
     "replicas: a number, or datacenter:number,..."},
    {CW_PROFILE_TOPOLOGY, "topology", TEXT, AT(topology), "what the cluster says of itself"},
    {CW_PROFILE_UNSIGNED_CHAR, "unsigned_char", YES_NO, AT(unsigned_char),
     "yes: the system runs where plain char is unsigned (ARM)"},
};

enum { SETTING_COUNT = sizeof settings / sizeof *settings };

static const struct setting *find_bit(enum cw_profile_setting bit)
{
    for (unsigned i = 0; i < SETTING_COUNT; i++)
        if (settings[i].bit == bit)
            return &settings[i];
    return NULL;
}

const char *cw_profile_setting_name(enum cw_profile_setting setting)
{
    const struct setting *found = find_bit(setting);
    return found ? found->name : NULL;
}

const char *cw_profile_setting_help(enum cw_profile_setting setting)
{
    const struct setting *found = find_bit(setting);
    return found ? found->help : NULL;
}

/* Zero and the empty text are "not given". */
static int is_given(const struct cw_profile_options *options, const struct setting *setting)
{
    const void *at = (const char *)options + setting->offset;
    switch (setting->kind) {
    case TEXT: {
        const char *const *text = at;
        return *text && (setting->bit == CW_PROFILE_TOPOLOGY || **text);
    }
    case NUMBER: return *(const uint32_t *)at != 0;
    case REAL: return *(const double *)at != 0;
    case YES_NO: return *(const int *)at != 0;
    }
    return 0;
}

const char *profile_settings_unknown(const struct cw_profile_options *options, uint32_t known)
{
    for (unsigned i = 0; i < SETTING_COUNT; i++)
        if (!(known & settings[i].bit) && is_given(options, &settings[i]))
            return settings[i].name;
    return NULL;
}

void profile_settings_keep(struct cw_profile_options *options, uint32_t known)
{
    static const size_t sizes[] = {sizeof(char *), sizeof(uint32_t), sizeof(double), sizeof(int)};
    for (unsigned i = 0; i < SETTING_COUNT; i++)
        if (!(known & settings[i].bit))
            memset((char *)options + settings[i].offset, 0, sizes[settings[i].kind]);
    if (!options->topology)
        options->topology_len = 0;
}

/* The shortest of two forms that is read back as the same number. */
static void print_real(double real, char *ret_text, size_t size)
{
    snprintf(ret_text, size, "%.15g", real);
    if (strtod(ret_text, NULL) != real)
        snprintf(ret_text, size, "%.17g", real);
}

const char *cw_profile_options_get(const struct cw_profile_options *options,
                                   enum cw_profile_setting setting, char text[32])
{
    const struct setting *found = find_bit(setting);
    if (!options || !found || !is_given(options, found))
        return NULL;
    const void *at = (const char *)options + found->offset;
    switch (found->kind) {
    case TEXT: return *(const char *const *)at;
    case NUMBER: snprintf(text, 32, "%u", *(const uint32_t *)at); break;
    case REAL: print_real(*(const double *)at, text, 32); break;
    case YES_NO: return "yes";
    }
    return text;
}

/* ---- from text ------------------------------------------------------------------------------- */

static int read_number(const char *value, uint32_t *ret_number)
{
    char *end;
    if (value[0] < '0' || value[0] > '9')
        return 0;
    unsigned long long number = strtoull(value, &end, 10);
    if (*end || number > UINT32_MAX)
        return 0;
    *ret_number = (uint32_t)number;
    return 1;
}

static int read_real(const char *value, double *ret_real)
{
    char *end;
    double real = strtod(value, &end);
    if (end == value || *end || !(real >= 0 && real <= 1e9))
        return 0;
    *ret_real = real;
    return 1;
}

static int read_yes_no(const char *value, int *ret_yes)
{
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return 0;
    *ret_yes = value[0] == 'y';
    return 1;
}

static int read_value(struct cw_profile_options *options, const struct setting *setting,
                      const char *value)
{
    void *at = (char *)options + setting->offset;
    switch (setting->kind) {
    case TEXT:
        memcpy(at, &value, sizeof value);
        if (setting->bit == CW_PROFILE_TOPOLOGY)
            options->topology_len = strlen(value);
        return 1;
    case NUMBER: return read_number(value, at);
    case REAL: return read_real(value, at);
    case YES_NO: return read_yes_no(value, at);
    }
    return 0;
}

int cw_profile_options_set(struct cw_profile_options *options, const char *name, const char *value,
                           struct cw_error *error)
{
    static const char *const wants[] = {"a text", "a whole number from 0 to 4294967295", "a number",
                                        "yes or no"};
    if (!options || !name || !value)
        return error_set(error, CW_EINVAL, "options, name and value must not be NULL");
    for (unsigned i = 0; i < SETTING_COUNT; i++) {
        if (strcmp(settings[i].name, name) != 0)
            continue;
        if (read_value(options, &settings[i], value))
            return CW_OK;
        return error_set(error, CW_EINVAL, "%s '%.32s': use %s", name, value,
                         wants[settings[i].kind]);
    }
    return error_set(error, CW_EINVAL,
                     "no setting '%.32s': there are hash, tag, stop, salt, server_key, points, "
                     "size, size_max, load, replication, topology, unsigned_char",
                     name);
}
