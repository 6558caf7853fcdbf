/*
 * checksum.c - XXH64 as Yann Collet specifies it (xxHash fast digest algorithm, version 0.1.1).
 *
 * Four lanes of multiply and rotate process 32 bytes per step, so checking a pack costs little more
 * than reading its pages.
 */
#include "data/checksum.h"

#include <string.h>

static const uint64_t prime1 = 0x9E3779B185EBCA87u, prime2 = 0xC2B2AE3D27D4EB4Fu,
                      prime3 = 0x165667B19E3779F9u, prime4 = 0x85EBCA77C2B2AE63u,
                      prime5 = 0x27D4EB2F165667C5u;

static uint64_t rotate(uint64_t value, int bits)
{
    return value << bits | value >> (64 - bits);
}

/* Little-endian, as specified; compilers turn this into one load. */
static uint64_t load64(const uint8_t *at)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

static uint64_t load32(const uint8_t *at)
{
    return (uint64_t)at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
}

static uint64_t step(uint64_t lane, uint64_t input)
{
    return rotate(lane + input * prime2, 31) * prime1;
}

static uint64_t merge(uint64_t hash, uint64_t lane)
{
    return (hash ^ step(0, lane)) * prime1 + prime4;
}

uint64_t imp_checksum(const void *data, size_t size)
{
    const uint8_t *at = data, *end = at + size;
    uint64_t hash = prime5;
    if (size >= 32) {
        uint64_t lane1 = prime1 + prime2, lane2 = prime2, lane3 = 0, lane4 = 0 - prime1;
        for (; end - at >= 32; at += 32) {
            lane1 = step(lane1, load64(at));
            lane2 = step(lane2, load64(at + 8));
            lane3 = step(lane3, load64(at + 16));
            lane4 = step(lane4, load64(at + 24));
        }
        hash = rotate(lane1, 1) + rotate(lane2, 7) + rotate(lane3, 12) + rotate(lane4, 18);
        hash = merge(merge(merge(merge(hash, lane1), lane2), lane3), lane4);
    }
    hash += size;
    for (; end - at >= 8; at += 8)
        hash = rotate(hash ^ step(0, load64(at)), 27) * prime1 + prime4;
    if (end - at >= 4) {
        hash = rotate(hash ^ load32(at) * prime1, 23) * prime2 + prime3;
        at += 4;
    }
    for (; at < end; at++)
        hash = rotate(hash ^ *at * prime5, 11) * prime1;
    hash = (hash ^ hash >> 33) * prime2;
    hash = (hash ^ hash >> 29) * prime3;
    return hash ^ hash >> 32;
}
