#include "placement/fleet.h"

static void the_hash_is_xxh3_with_seed_0(void **state)
{
    /* From xxHash's own test vectors and its command line: xxhsum -H3. */
    assert_true(cw_hash("", 0) == 0x2d06800538d394c2u);
    assert_true(cw_hash("a", 1) == 0xe6c632b61e964e1fu);
    assert_true(cw_hash("abc", 3) == 0x78af5f94892f3950u);
}

static void a_hash_tag_is_what_stands_between_the_first_braces(void **state)
{
    static const struct {
        const char *key, *tag;
    } cases[] = {{"plain", "plain"},
                 {"{user1}.name", "user1"},
                 {"a{b}c", "b"},
                 {"a{}b", "a{}b"},
                 {"a{{b}}c", "{b"},
                 {"a{b}{c}", "b"},
                 {"a{bc", "a{bc"},
                 {"a}b{c}", "c"},
                 {"{}{tag}", "{}{tag}"},
                 {"", ""},
                 {"{", "{"},
                 {"}", "}"},
                 {"foo{bar}{zap}", "bar"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *key = cases[i].key;
        size_t len;
        const char *tag = cw_hash_tag(key, strlen(key), &len);
        assert_int_equal(len, strlen(cases[i].tag));
        assert_memory_equal(tag, cases[i].tag, len);
        assert_true(cw_hash_tagged(key, strlen(key)) == cw_hash(cases[i].tag, len));
    }
}

static void a_key_may_hold_any_bytes(void **state)
{
    size_t len;
    const char *tag = cw_hash_tag("\0{\0}\0", 5, &len);
    assert_int_equal(len, 1);
    assert_int_equal(*tag, '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_hash_is_xxh3_with_seed_0),
        cmocka_unit_test(a_hash_tag_is_what_stands_between_the_first_braces),
        cmocka_unit_test(a_key_may_hold_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
