/*
 * mcrouter's functions beside their golden files: the salt, many keys at once, ties of draws, and
 * the logarithms that are spared.
 *
 * covers: profile_mcrouter, profile_mcrouter_rank
 */
#include "profiles/profile_helper.h"

#include "profiles/profile_mcrouter_rank.h"

enum { KEYS = 3000, SERVERS = 40 };

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state ^ *state >> 29;
}

/* Servers that stand twice and three times have equal draws, of which the last wins. */
static void draws_of_many_keys_are_those_of_one_with_all_vectors(void **state)
{
    uint64_t servers[SERVERS], keys[KEYS], random = 1;
    uint32_t many[KEYS], one[KEYS];
    for (size_t i = 0; i < SERVERS; i++)
        servers[i] = i % 3 ? servers[i - 1] : next_random(&random);
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = next_random(&random);
    for (uint32_t count = 1; count <= SERVERS; count += count / 2 + 1) {
        for (size_t i = 0; i < KEYS; i++)
            mcrouter_rank(VECTORS_NONE, servers, count, &keys[i], 1, &one[i]);
        for (int vectors = VECTORS_NONE; vectors <= (int)vectors_found(); vectors++) {
            memset(many, 0xff, sizeof many);
            mcrouter_rank((enum vectors)vectors, servers, count, keys, KEYS, many);
            assert_memory_equal(many, one, sizeof many);
        }
        for (size_t i = 0; i < KEYS; i++)
            assert_true(one[i] + 1 == count || servers[one[i]] != servers[one[i] + 1]);
    }
}

static struct cw_profile_map *make_servers(const char *profile, const char *salt, double weight)
{
    static char addresses[SERVERS][32];
    node nodes[SERVERS];
    for (unsigned i = 0; i < SERVERS; i++) {
        snprintf(addresses[i], sizeof addresses[i], "10.0.0.%u:11211", i);
        nodes[i] = (node){.address = addresses[i], .weight = i % 2 ? weight : 1};
    }
    struct cw_profile_options options = {.nodes = nodes, .node_count = SERVERS, .salt = salt};
    return make(profile, &options);
}

static const char *const profiles[] = {"mcrouter-ch3", "mcrouter-weighted-ch3", "mcrouter-crc32",
                                       "mcrouter-rendezvous", "mcrouter-weighted-rendezvous"};
enum { PROFILE_COUNT = sizeof profiles / sizeof *profiles };

static void a_salt_is_as_if_each_key_ended_in_it(void **state)
{
    for (size_t p = 0; p < PROFILE_COUNT; p++) {
        struct cw_profile_map *salted = make_servers(profiles[p], "pepper", 0.5);
        struct cw_profile_map *plain = make_servers(profiles[p], NULL, 0.5);
        unsigned differ = 0;
        for (unsigned i = 0; i < KEYS; i++) {
            char key[32], with[40];
            size_t len = (size_t)snprintf(key, sizeof key, "key:%u", i);
            size_t with_len = (size_t)snprintf(with, sizeof with, "%spepper", key);
            uint32_t owner = cw_profile_locate(salted, key, len);
            assert_int_equal(owner, cw_profile_locate(plain, with, with_len));
            differ += owner != cw_profile_locate(plain, key, len);
        }
        assert_in_range(differ, KEYS / 2, KEYS);
        cw_profile_map_unref(&salted);
        cw_profile_map_unref(&plain);
    }
}

/* Also of keys with a part that is not hashed, and of the empty one. */
static void many_keys_are_placed_as_one_by_one(void **state)
{
    static char texts[KEYS][32];
    const void *keys[KEYS];
    size_t lens[KEYS];
    uint32_t owners[KEYS];
    for (unsigned i = 0; i < KEYS; i++) {
        const char *format = i % 3 ? "key:%u" : i % 2 ? "k%u|#|rest" : "|#|";
        lens[i] = (size_t)snprintf(texts[i], sizeof texts[i], format, i);
        keys[i] = texts[i];
    }
    lens[7] = 0;
    for (size_t p = 0; p < PROFILE_COUNT * 2; p++) {
        const char *salt = p < PROFILE_COUNT ? NULL : "salt";
        struct cw_profile_map *map = make_servers(profiles[p % PROFILE_COUNT], salt, 0.25);
        cw_profile_locate_batch(map, keys, lens, KEYS, owners);
        for (size_t i = 0; i < KEYS; i++)
            assert_int_equal(owners[i], cw_profile_locate(map, keys[i], lens[i]));
        cw_profile_map_unref(&map);
    }
}

/* A server that wins among all wins against each other one alone, also behind it, where it could
 * be passed over. */
static void assert_wins_against(uint32_t winner, uint32_t other, const char *key, size_t len)
{
    char names[2][32];
    node two[2];
    for (unsigned i = 0; i < 2; i++) {
        uint32_t number = i ? winner : other;
        snprintf(names[i], sizeof names[i], "10.0.0.%u:11211", number);
        two[i] = (node){.address = names[i], .weight = number % 2 ? 0.125 : 1};
    }
    struct cw_profile_map *map = make_nodes("mcrouter-weighted-rendezvous", two, 2);
    assert_int_equal(cw_profile_locate(map, key, len), 1);
    cw_profile_map_unref(&map);
}

static void no_server_is_passed_over_whose_logarithm_would_have_won(void **state)
{
    struct cw_profile_map *map = make_servers("mcrouter-weighted-rendezvous", NULL, 0.125);
    unsigned heavy = 0;
    for (unsigned i = 0; i < KEYS; i++) {
        char key[32];
        size_t len = (size_t)snprintf(key, sizeof key, "key:%u", i);
        uint32_t winner = cw_profile_locate(map, key, len);
        heavy += winner % 2 == 0;
        for (uint32_t other = 0; i % 10 == 0 && other < SERVERS; other++)
            if (other != winner)
                assert_wins_against(winner, other, key, len);
    }
    /* 20 servers of weight 1 beside 20 of an eighth have eight ninths. */
    assert_in_range(heavy, KEYS * 8 / 9 - 80, KEYS * 8 / 9 + 80);
    cw_profile_map_unref(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_of_many_keys_are_those_of_one_with_all_vectors),
        cmocka_unit_test(a_salt_is_as_if_each_key_ended_in_it),
        cmocka_unit_test(many_keys_are_placed_as_one_by_one),
        cmocka_unit_test(no_server_is_passed_over_whose_logarithm_would_have_won),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
