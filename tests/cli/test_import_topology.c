/* covers: cli/import_redis_cluster, cli/import_nodetool */
#include "cli/import_helper.h"

#define ID_1 "07c37dfeb235213a872192d90877d0cd55635b91"
#define ID_2 "67ed2db8d677e59ec4a4cefb06858cf2a1a89fa1"
#define NODES                                                                                      \
    ID_2 " 127.0.0.1:30002@31002,host master - 0 1426238316232 2 connected 8192-16383\n" ID_1      \
         " fe80::1:30001@31001 myself,master - 0 0 1 connected 0-8191"

static void says_of(const struct import_format *format, enum import_weight weight, const char *text,
                    const char *remark)
{
    says(format, NULL, weight, text, remark);
}

static void cluster_nodes_goes_into_the_configuration_with_its_masters(void **state)
{
    import_from(&import_format_redis_cluster, NULL, NODES "\r\n", strlen(NODES "\r\n"));
    assert_string_equal(pools_of_result(),
                        "  cluster:\n"
                        "    listen: 127.0.0.1:7400  # chosen: the file names none\n"
                        "    engine: redis\n"
                        "    placement: redis-cluster\n"
                        "    profile:\n"
                        "      topology: |\n"
                        "        " ID_2 " 127.0.0.1:30002@31002,host master - 0 1426238316232 2 "
                        "connected 8192-16383\n"
                        "        " ID_1 " fe80::1:30001@31001 myself,master - 0 0 1 connected "
                        "0-8191\n"
                        "    nodes:\n"
                        "      - {id: 127.0.0.1:30002, address: 127.0.0.1:30002}\n"
                        "      - {id: \"[fe80::1]:30001\", address: \"[fe80::1]:30001\", "
                        "server: fe80::1:30001}\n");
    done();
}

static void cluster_slots_is_read_for_people_and_raw(void **state)
{
    static const char *const texts[] = {
        "1) 1) (integer) 0\n   2) (integer) 16383\n   3) 1) \"10.0.0.1\"\n      2) (integer) 7000\n"
        "      3) \"" ID_1 "\"\n",
        "0\n16383\n10.0.0.1\n7000\n" ID_1 "\n"};
    for (size_t i = 0; i < 2; i++) {
        assert_true(import_format_redis_cluster.looks_like(texts[i]));
        import_from(&import_format_redis_cluster, NULL, texts[i], strlen(texts[i]));
        assert_non_null(strstr(pools_of_result(), "{id: 10.0.0.1:7000, address: 10.0.0.1:7000}"));
        done();
    }
}

static void replicas_failures_and_moving_slots_are_told(void **state)
{
    says_of(&import_format_redis_cluster, IMPORT_NOTE,
            NODES "\n" ID_1 "x h:1@2 slave " ID_1 " 0 0 1 connected\n",
            "f:3: 'h:1@2' is a replica");
    says_of(&import_format_redis_cluster, IMPORT_NOTE,
            ID_2 " h:1@2 master,fail - 0 0 1 disconnected 0-99\n" ID_1
                 " h:2@3 myself,master - 0 0 1 connected 100-16383\n",
            "f:1: 'h:1@2' has failed (master,fail)");
    says_of(&import_format_redis_cluster, IMPORT_MOVES, NODES " [93->-" ID_2 "]\n",
            "f:2: slot 93->-");
}

static void what_is_no_cluster_is_refused_in_its_line(void **state)
{
    says_of(&import_format_redis_cluster, IMPORT_WRONG, ID_1 " h:1 master\n", "f:1: ");
    says_of(&import_format_redis_cluster, IMPORT_WRONG, NODES "-1\n", "f:2: ");
    says_of(&import_format_redis_cluster, IMPORT_WRONG,
            ID_1 " :7000@17000 myself,master - 0 0 1 connected 0-16383\n",
            "node ':7000' has no host or no port");
}

static const char ring[] = "\nDatacenter: dc1\n==========\n"
                           "Address  Rack Status State  Load   Owns  Token\n"
                           "                                         7\n"
                           "10.0.0.1 r1   Up     Normal 70 KiB 50.0% -7\n"
                           "fe80::2  r2   Down   Normal ?      50.0% 7\n";

static void nodetool_ring_goes_into_the_configuration_with_its_nodes(void **state)
{
    assert_true(import_format_nodetool.looks_like(ring));
    import_from(&import_format_nodetool, NULL, ring, strlen(ring));
    assert_non_null(strstr(buffer_bytes(&imported.said), "the keyspace's replication is not in"));
    assert_non_null(strstr(pools_of_result(), "      replication: 1\n      topology: |\n"
                                              "        Datacenter: dc1\n"));
    assert_non_null(strstr(pools_of_result(),
                           "      - {id: 10.0.0.1:9042, address: 10.0.0.1:9042, server: 10.0.0.1}\n"
                           "      - {id: \"[fe80::2]:9042\", address: \"[fe80::2]:9042\", server: "
                           "fe80::2}\n"));
    done();
    says_of(&import_format_nodetool, IMPORT_WRONG, "Datacenter: d\n10.0.0.1 r1 Up\n", "f:2: ");
}

static void they_are_recognised_by_their_first_line(void **state)
{
    assert_true(import_format_redis_cluster.looks_like(NODES));
    assert_false(import_format_redis_cluster.looks_like("0"));
    assert_false(import_format_redis_cluster.looks_like("07c37d"));
    assert_false(import_format_nodetool.looks_like("Datacenter: x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cluster_nodes_goes_into_the_configuration_with_its_masters),
        cmocka_unit_test(cluster_slots_is_read_for_people_and_raw),
        cmocka_unit_test(replicas_failures_and_moving_slots_are_told),
        cmocka_unit_test(what_is_no_cluster_is_refused_in_its_line),
        cmocka_unit_test(nodetool_ring_goes_into_the_configuration_with_its_nodes),
        cmocka_unit_test(they_are_recognised_by_their_first_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
