#include "store/random_hex.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"

/* Should the system have none (a kernel without getrandom), time and process are told apart still.
 */
static uint64_t seed_of_system(void)
{
    uint64_t seed;
    struct timespec now;
    if (getrandom(&seed, sizeof seed, 0) == sizeof seed)
        return seed;
    clock_gettime(CLOCK_REALTIME, &now);
    return random_mix((uint64_t)now.tv_sec) ^ random_mix((uint64_t)now.tv_nsec) ^
           (uint64_t)getpid();
}

void random_hex(uint64_t seed, size_t len, char *ret_text)
{
    struct random random = {seed ? seed : seed_of_system()};
    for (size_t i = 0; i < len; i++) {
        if (!seed && i % 8 == 0)
            random.state ^= seed_of_system();
        ret_text[i] = "0123456789abcdef"[random_below(&random, 16)];
    }
    ret_text[len] = '\0';
}
