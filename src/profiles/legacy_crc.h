/*
 * The cyclic redundancy checks that other systems place keys with.
 */
#ifndef PROFILES_LEGACY_CRC_H
#define PROFILES_LEGACY_CRC_H

#include <stddef.h>
#include <stdint.h>

uint32_t legacy_crc32(const void *data, size_t len);
/* The register without its inversion at both ends: start from UINT32_MAX, invert to read it. */
uint32_t legacy_crc32_continue(uint32_t state, const void *data, size_t len);
/* CRC-16/XMODEM, as Redis Cluster has it. */
uint16_t legacy_crc16(const void *data, size_t len);
/* As twemproxy has it: the register is 32 bits wide and never cut, so that the upper half holds
 * what a CRC-16 would have dropped. */
uint32_t legacy_crc16_wide(const void *data, size_t len);

#endif
