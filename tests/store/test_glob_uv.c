/* A real Redis says the same of every pattern of the table. */
#include "store/glob_table.h"
#include "store/redis_rig.h"
#include "store/wish.h"

/* The count of KEYS for a pattern when only one key is there. */
static int64_t count_keys(struct side *side, const char *pattern, const char *key)
{
    struct wish wishes[] = {{.count = 0}, {.count = 0}, {.count = 0}};
    struct buffer out = BUFFER_INIT;
    struct resp_value value;
    add(&wishes[0], "FLUSHALL");
    add(&wishes[1], "SET");
    add(&wishes[1], key);
    add(&wishes[1], "");
    add(&wishes[2], "KEYS");
    add(&wishes[2], pattern);
    for (size_t i = 0; i < 3; i++)
        append_wish(&out, &wishes[i]);
    client_send(side->fd, buffer_bytes(&out), out.len);
    for (size_t i = 0; i < 2; i++)
        client_reply(side->fd, &side->input, &side->taken);
    struct slice reply = client_reply(side->fd, &side->input, &side->taken);
    assert_int_equal(resp_read_value(reply.ptr, reply.len, &value), RESP_DONE);
    buffer_release(&out);
    return value.integer;
}

static void redis_says_the_same_of_the_table_of_patterns(void **state)
{
    struct redis_rig redis;
    redis_rig_start(&redis);
    struct side side = {.fd = client_open(redis.port)};
    for (size_t i = 0; i < sizeof glob_table / sizeof glob_table[0]; i++) {
        if (strcmp(glob_table[i].pattern, "*") == 0)
            continue; /* KEYS has a way of its own for it */
        if (count_keys(&side, glob_table[i].pattern, glob_table[i].text) != glob_table[i].fits)
            fail_msg("'%s' on '%s': redis differs", glob_table[i].pattern, glob_table[i].text);
    }
    close(side.fd);
    buffer_release(&side.input.bytes);
    redis_rig_stop(&redis);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(redis_says_the_same_of_the_table_of_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
