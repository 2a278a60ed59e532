/*
 * Key hashes of many keys at once, for those where that is much faster than one by one: all that
 * are made of MD5.
 */
#include "profiles/profile.h"

#include "profiles/legacy_digest.h"

/* What each makes of the four words of a digest. */
#define OF_WORDS(name, value)                                                                      \
    static void name(enum vectors vectors, const void *const *keys, const size_t *lens,            \
                     size_t count, uint64_t *ret_hashes)                                           \
    {                                                                                              \
        uint32_t digests[PROFILE_BATCH][4];                                                        \
        legacy_md5_batch(vectors, keys, lens, count, digests);                                     \
        for (size_t i = 0; i < count; i++) {                                                       \
            const uint32_t *words = digests[i];                                                    \
            ret_hashes[i] = value;                                                                 \
        }                                                                                          \
    }
OF_WORDS(word, words[0])
OF_WORDS(be64, (uint64_t)__builtin_bswap32(words[0]) << 32 | __builtin_bswap32(words[1]))
OF_WORDS(be16, __builtin_bswap32(words[0]) >> 16)
OF_WORDS(le64_first, (uint64_t)words[1] << 32 | words[0])
OF_WORDS(le64_last, (uint64_t)words[3] << 32 | words[2])

profile_hash_batch_fn *profile_hash_batch(legacy_hash_fn *hash)
{
    static const struct {
        legacy_hash_fn *one;
        profile_hash_batch_fn *many;
    } batches[] = {
        {profile_md5_word, word},           {profile_md5_be64, be64},
        {profile_md5_be16, be16},           {profile_md5_le64_first, le64_first},
        {profile_md5_le64_last, le64_last},
    };
    for (size_t i = 0; i < sizeof batches / sizeof *batches; i++)
        if (batches[i].one == hash)
            return batches[i].many;
    return NULL;
}
