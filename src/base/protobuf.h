/*
 * protobuf.h - writing Protocol Buffers by hand: as much of the wire format as ONNX and
 * TensorBoard need.
 *
 * A message is a buffer of fields; a nested message is a buffer written as bytes. A buffer that
 * runs out of memory stays failed and ignores what follows, so callers check only once, at the end.
 */
#ifndef IMP_BASE_PROTOBUF_H
#define IMP_BASE_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct imp_message {
    unsigned char *bytes;
    size_t size, capacity;
    bool failed;
} imp_message;

void imp_message_integer(imp_message *message, unsigned field, uint64_t value);
void imp_message_double(imp_message *message, unsigned field, double value);
void imp_message_float(imp_message *message, unsigned field, float value);
void imp_message_bytes(imp_message *message, unsigned field, const void *bytes, size_t size);
void imp_message_text(imp_message *message, unsigned field, const char *text);

/* Adds `inner` as a field and releases it. */
void imp_message_nest(imp_message *message, unsigned field, imp_message *inner);

/* Releases the bytes and zeroes the struct; harmless on a zeroed one. */
void imp_message_clear(imp_message *message);

#endif
