/* checksum.h - XXH64: detects damage in a file as fast as it can be read. Not for cryptography. */
#ifndef IMP_DATA_CHECKSUM_H
#define IMP_DATA_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* XXH64 with seed 0 of `size` bytes. */
uint64_t imp_checksum(const void *data, size_t size);

#endif
