/*
 * The payload of DUMP: one byte, the version of the payload, and a record (record.h) without its
 * key. The record's checksum covers all that follows the version, of which there is one. Whoever
 * gets a payload cannot look into it, but RESTORE sees whether it is whole.
 */
#ifndef STORE_DUMP_H
#define STORE_DUMP_H

#include <stdbool.h>

#include "store/record.h"

enum { DUMP_VERSION = 1, DUMP_OVERHEAD_LEN = 1 + RECORD_HEADER_LEN };

/* Bytes of a payload whose value has that many. */
static inline size_t dump_len(size_t value_len)
{
    return DUMP_OVERHEAD_LEN + value_len;
}

/* Writes exactly dump_len() bytes. One pass over the value, and one for its checksum. */
void dump_write(const struct record *record, char *to);

/* Takes a payload apart; false: it is not whole, or not of this version. The record's value is part
 * of the payload. One pass. */
bool dump_read(struct slice payload, struct record *ret_record);

#endif
