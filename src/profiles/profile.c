/*
 * The list of profiles: the rows of all families, one table after the other.
 */
#include "profiles/profile.h"

#include <string.h>

static const struct profile_rows *const families[] = {
    &profile_rows_libmemcached, &profile_rows_twemproxy, &profile_rows_redis,
    &profile_rows_ketama,       &profile_rows_java,      &profile_rows_nginx,
    &profile_rows_haproxy,      &profile_rows_mcrouter,  &profile_rows_envoy,
    &profile_rows_memcached,    &profile_rows_clients,   &profile_rows_cassandra,
    &profile_rows_kafka,        &profile_rows_more,
};

enum { FAMILY_COUNT = sizeof families / sizeof *families };

size_t cw_profile_count(void)
{
    size_t count = 0;
    for (unsigned i = 0; i < FAMILY_COUNT; i++)
        count += families[i]->count;
    return count;
}

const struct cw_profile *cw_profile_at(size_t index)
{
    for (unsigned i = 0; i < FAMILY_COUNT; i++) {
        if (index < families[i]->count)
            return &families[i]->list[index].shown;
        index -= families[i]->count;
    }
    return NULL;
}

const struct cw_profile *cw_profile_find(const char *name)
{
    const struct cw_profile *profile;
    for (size_t i = 0; name && (profile = cw_profile_at(i)) != NULL; i++)
        if (strcmp(profile->name, name) == 0)
            return profile;
    return NULL;
}
