/*
 * The vector forms of batches against single calls, beyond the numbers of nodes that maps have and
 * with draws that are equal.
 * covers: rank_batch, jump_batch, jumpback_batch
 */
#include "placement/fleet.h"
#include "placement/jump.h"
#include "placement/jumpback.h"
#include "placement/rank_batch.h"

enum { KEYS = 333 };

typedef void (*batch_fn)(enum vectors vectors, const uint64_t *keys, size_t count,
                         uint32_t bucket_count, uint32_t *ret_buckets);

/* Random ones, some with few bits or with equal halves. */
static void fill_keys(struct random *random, uint64_t *ret_keys)
{
    for (size_t i = 0; i < KEYS; i++) {
        uint64_t key = random_next(random);
        ret_keys[i] = i % 4 == 1   ? key >> (key & 63)
                      : i % 4 == 2 ? key << (key & 63)
                      : i % 4 == 3 ? (key >> 32) * 0x100000001
                                   : key;
    }
    ret_keys[0] = 0;
    ret_keys[KEYS - 1] = UINT64_MAX;
}

static void check_buckets(const char *name, batch_fn batch,
                          uint32_t (*single)(uint64_t key, uint32_t bucket_count), uint64_t seed)
{
    struct random random = {seed};
    uint32_t bucket_count = INT32_MAX, buckets[KEYS];
    uint64_t keys[KEYS];
    for (; bucket_count; bucket_count = (uint32_t)random_below(&random, bucket_count)) {
        fill_keys(&random, keys);
        batch(vectors_found(), keys, KEYS, bucket_count, buckets);
        for (size_t i = 0; i < KEYS; i++)
            check(buckets[i] == single(keys[i], bucket_count),
                  "%s, seed %llu, %u buckets, key %016llx: %u, not %u", name,
                  (unsigned long long)seed, bucket_count, (unsigned long long)keys[i], buckets[i],
                  single(keys[i], bucket_count));
    }
}

static void a_batch_of_buckets_is_what_single_ones_are(void **state)
{
    for_each_seed(seed, 50)
    {
        check_buckets("jump", jump_batch, jump_bucket, seed);
        check_buckets("jumpback", jumpback_batch, jumpback_bucket, seed);
    }
}

static void equal_draws_of_a_batch_go_to_the_earlier_node(void **state)
{
    for_each_seed(seed, 50)
    {
        struct random random = {seed};
        struct rank_node nodes[40];
        uint64_t keys[KEYS];
        uint32_t best[KEYS], count = 1 + (uint32_t)random_below(&random, 40);
        for (uint32_t i = 0; i < count; i++) /* for key 0 the hash 0 draws 0 */
            nodes[i] = rank_node(random_below(&random, 2), 1, i);
        fill_keys(&random, keys);
        rank_batch_equal(vectors_found(), nodes, count, keys, KEYS, best);
        for (size_t i = 0; i < KEYS; i++)
            check(best[i] == rank_best_equal(nodes, count, keys[i]),
                  "seed %llu, %u nodes, key %016llx: %u", (unsigned long long)seed, count,
                  (unsigned long long)keys[i], best[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_batch_of_buckets_is_what_single_ones_are),
        cmocka_unit_test(equal_draws_of_a_batch_go_to_the_earlier_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
