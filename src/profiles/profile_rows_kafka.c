/*
 * Kafka's partitioners, and other systems that place on numbers. A record without a key has no
 * fixed partition.
 */
#include "profiles/profile.h"

#define KAFKA .family = "kafka", .evidence = "real program", .settings = CW_PROFILE_SIZE
#define PARTITIONS                                                                                 \
    .engine = &profile_engine_table, .hashes = HASHES_OTHER, .may_be_empty = 1,                    \
    .table = {.fill = FILL_ONCE}

static const struct profile rows[] = {
    {
        .shown = {KAFKA, .name = "kafka", .hash = "murmur2/31",
                  .rule = "31 bits of murmur2 modulo the number of partitions",
                  .versions = "kafka-python 2.0.2, kafkajs 2.2.4, librdkafka 2.0.2 murmur2",
                  .limits = "What Java's clients do by default."},
        PARTITIONS,
    },
    {
        .shown = {KAFKA, .name = "librdkafka-consistent", .hash = "crc32",
                  .rule = "CRC-32 modulo the number of partitions", .versions = "librdkafka 2.0.2",
                  .limits = "The default of librdkafka and of what stands on it, for records with "
                            "a key."},
        PARTITIONS,
    },
    {
        .shown = {KAFKA, .name = "librdkafka-fnv1a", .hash = "fnv1a/abs",
                  .rule = "FNV-1a without sign modulo the number of partitions",
                  .versions = "librdkafka 2.0.2", .limits = "As Sarama's default."},
        PARTITIONS,
    },
    {
        .shown = {KAFKA, .name = "kafkajs-legacy", .hash = "murmur2/js",
                  .rule = "murmur2 carried out in JavaScript's doubles, which round it",
                  .versions = "kafkajs 2.2.4 LegacyPartitioner",
                  .limits = "The default of kafkajs 1.x."},
        PARTITIONS,
    },
    {
        .shown = {.name = "couchbase-vbucket",
                  .family = "couchbase",
                  .hash = "crc32/15",
                  .rule = "15 bits of CRC-32 modulo 1024",
                  .versions = "libcouchbase 3ff90ef",
                  .evidence = "real program",
                  .limits = "The vBucket's number; its server is in the cluster's map.",
                  .settings = CW_PROFILE_SIZE},
        .engine = &profile_engine_table,
        .hashes = HASHES_OTHER,
        .may_be_empty = 1,
        .table = {.fill = FILL_ONCE, .size = 1024},
    },
    {
        .shown = {.name = "guava-consistent-hash",
                  .family = "guava",
                  .hash = "md5",
                  .rule = "jump hash of the first 64 bits of a hash",
                  .versions = "Guava 31.1",
                  .evidence = "real program",
                  .limits = "hashCode is the String's, widened to long; the others are "
                            "hashString(key, UTF_8).",
                  .settings = CW_PROFILE_HASH | CW_PROFILE_SIZE},
        .engine = &profile_engine_jump,
        .hashes = HASHES_GUAVA,
        .may_be_empty = 1,
    },
};

const struct profile_rows profile_rows_kafka = {rows, sizeof rows / sizeof *rows};
