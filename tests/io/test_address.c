/* Addresses: what is one, what is wrong with what is none, and the way there and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "io/address.h"

static const struct good {
    const char *text;
    enum address_kind kind;
    const char *host;
    uint16_t port;
} good[] = {
    {"127.0.0.1:6379", ADDRESS_TCP, "127.0.0.1", 6379},
    {"0.0.0.0:0", ADDRESS_TCP, "0.0.0.0", 0},
    {"localhost:65535", ADDRESS_TCP, "localhost", 65535},
    {"cache-1.example.org:11211", ADDRESS_TCP, "cache-1.example.org", 11211},
    {"redis_1:6379", ADDRESS_TCP, "redis_1", 6379},
    {"example.org.:1", ADDRESS_TCP, "example.org.", 1},
    {"[::1]:6379", ADDRESS_TCP, "::1", 6379},
    {"[2001:db8::1]:80", ADDRESS_TCP, "2001:db8::1", 80},
    {"[fe80::1%lo]:80", ADDRESS_TCP, "fe80::1%lo", 80},
    {"unix:/run/redis.sock", ADDRESS_UNIX, "/run/redis.sock", 0},
    {"unix:relative:with:colons", ADDRESS_UNIX, "relative:with:colons", 0},
    {"inproc:node-1", ADDRESS_INPROC, "node-1", 0},
};

static const struct bad {
    const char *text, *reason;
} bad[] = {
    {"", "the port is missing (write host:port)"},
    {"6379", "the port is missing (write host:port)"},
    {"localhost", "the port is missing (write host:port)"},
    {":6379", "the host is missing"},
    {"localhost:", "the port is missing"},
    {"localhost:redis", "the port is not a number"},
    {"localhost:-1", "the port is not a number"},
    {"localhost:+1", "the port is not a number"},
    {"localhost: 1", "the port is not a number"},
    {"localhost:1 ", "the port is not a number"},
    {"localhost:65536", "the port is above 65535"},
    {"localhost:99999999999999999999", "the port is above 65535"},
    {"300.0.0.1:80", "not an IPv4 address"},
    {"127.1:80", "not an IPv4 address"},
    {"my host:80", "the host name has a character that no host name may have"},
    {"a..b:80", "the host name has an empty part"},
    {".a:80", "the host name has an empty part"},
    {"-a:80", "the host name starts with '-'"},
    {"a.-b:80", NULL}, /* the resolver's affair */
    {"::1:6379", "an IPv6 address needs brackets (write [host]:port)"},
    {"redis://a:80", "an IPv6 address needs brackets (write [host]:port)"},
    {"[::1]", "the port is missing (write [host]:port)"},
    {"[::1:80", "the closing ']' is missing"},
    {"[]:80", "not an IPv6 address"},
    {"[127.0.0.1]:80", "not an IPv6 address"},
    {"[::1]:x", "the port is not a number"},
    {"unix:", "the path after unix: is missing"},
    {"inproc:", "the name after inproc: is missing"},
    {"inproc:a b", "the name after inproc: has a space or a control character"},
};

static void an_address_is_taken_apart_and_put_together_again(void **state)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct address address;
        char text[IO_ADDRESS_LEN_MAX];
        assert_null(address_problem(good[i].text));
        assert_int_equal(address_parse(good[i].text, &address, NULL), 0);
        assert_int_equal(address.kind, good[i].kind);
        assert_string_equal(address.host, good[i].host);
        assert_int_equal(address.port, good[i].port);
        address_format(&address, text);
        assert_string_equal(text, good[i].text);
    }
}

static void what_is_no_address_is_told_why(void **state)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *reason = address_problem(bad[i].text);
        if (!reason != !bad[i].reason || (reason && strcmp(reason, bad[i].reason) != 0))
            fail_msg("\"%s\": %s, not %s", bad[i].text, reason, bad[i].reason);
    }
}

/* An address of `prefix`, count times 'x', and `suffix`. */
static const char *long_address(const char *prefix, size_t count, const char *suffix)
{
    static char text[1024];
    size_t prefix_len = strlen(prefix), suffix_len = strlen(suffix);
    memcpy(text, prefix, prefix_len);
    memset(text + prefix_len, 'x', count);
    memcpy(text + prefix_len + count, suffix, suffix_len + 1);
    return text;
}

static void lengths_are_bounded(void **state)
{
    struct address address;
    assert_int_equal(address_parse(long_address("unix:", 107, ""), &address, NULL), 0);
    assert_int_equal(address_parse(long_address("unix:", 108, ""), &address, NULL), -ENAMETOOLONG);
    assert_int_equal(address_parse(long_address("inproc:", 200, ""), &address, NULL), 0);
    assert_int_equal(address_parse(long_address("inproc:", 201, ""), &address, NULL),
                     -ENAMETOOLONG);
    assert_int_equal(address_parse(long_address("", 63, ":1"), &address, NULL), 0);
    assert_int_equal(address_parse(long_address("", 64, ":1"), &address, NULL), -EINVAL);
    assert_int_equal(address_parse(long_address("", 254, ":1"), &address, NULL), -ENAMETOOLONG);
    assert_int_equal(address_parse(long_address("[", 254, "]:1"), &address, NULL), -ENAMETOOLONG);
    assert_non_null(strstr(address_problem(long_address("unix:", 108, "")), "107 bytes"));
}

static void numeric_hosts_and_paths_become_socket_addresses_and_names_do_not(void **state)
{
    const char *texts[] = {"127.0.0.1:6379", "[::1]:80", "unix:/run/redis.sock"};
    struct sockaddr_storage sockaddr;
    struct address address;
    socklen_t len;
    char text[IO_ADDRESS_LEN_MAX];
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(address_parse(texts[i], &address, NULL), 0);
        assert_int_equal(address_to_sockaddr(&address, &sockaddr, &len), 0);
        address_format_sockaddr(&sockaddr, len, text);
        assert_string_equal(text, texts[i]);
    }
    assert_int_equal(address_parse("localhost:80", &address, NULL), 0);
    assert_int_equal(address_to_sockaddr(&address, &sockaddr, &len), -EADDRNOTAVAIL);
}

static void a_socket_without_a_name_is_a_question_mark(void **state)
{
    struct sockaddr_storage sockaddr = {.ss_family = AF_UNIX};
    char text[IO_ADDRESS_LEN_MAX];
    address_format_sockaddr(&sockaddr, sizeof sockaddr.ss_family, text);
    assert_string_equal(text, "?");
    sockaddr.ss_family = AF_UNSPEC;
    address_format_sockaddr(&sockaddr, sizeof sockaddr, text);
    assert_string_equal(text, "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_taken_apart_and_put_together_again),
        cmocka_unit_test(what_is_no_address_is_told_why),
        cmocka_unit_test(lengths_are_bounded),
        cmocka_unit_test(numeric_hosts_and_paths_become_socket_addresses_and_names_do_not),
        cmocka_unit_test(a_socket_without_a_name_is_a_question_mark),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
