/* protobuf.c - tags, varints and length-delimited fields. */
#include "base/protobuf.h"

#include <string.h>

#include "base/memory.h"

enum { VARINT = 0, FIXED64 = 1, DELIMITED = 2, FIXED32 = 5 };

static void append(imp_message *message, const void *bytes, size_t size)
{
    size_t needed;
    if (message->failed || size == 0)
        return;
    if (!imp_add(message->size, size, &needed)) {
        message->failed = true;
        return;
    }
    if (needed > message->capacity) {
        size_t capacity = needed < 256 ? 256 : needed + needed / 2;
        unsigned char *larger = imp_allocate(capacity, 1);
        if (!larger) {
            message->failed = true;
            return;
        }
        if (message->size > 0)
            memcpy(larger, message->bytes, message->size);
        imp_release(message->bytes);
        message->bytes = larger;
        message->capacity = capacity;
    }
    memcpy(message->bytes + message->size, bytes, size);
    message->size = needed;
}

static void append_varint(imp_message *message, uint64_t value)
{
    unsigned char bytes[10];
    size_t count = 0;
    do {
        bytes[count] = (unsigned char)(value & 0x7f);
        value >>= 7;
        bytes[count++] |= value ? 0x80 : 0;
    } while (value);
    append(message, bytes, count);
}

static void append_tag(imp_message *message, unsigned field, unsigned wire_type)
{
    append_varint(message, (uint64_t)field << 3 | wire_type);
}

void imp_message_integer(imp_message *message, unsigned field, uint64_t value)
{
    append_tag(message, field, VARINT);
    append_varint(message, value);
}

/* Little-endian. */
static void append_fixed(imp_message *message, uint64_t bits, size_t size)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(bits >> 8 * i & 0xff);
    append(message, bytes, size);
}

void imp_message_double(imp_message *message, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    append_tag(message, field, FIXED64);
    append_fixed(message, bits, sizeof bits);
}

void imp_message_float(imp_message *message, unsigned field, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    append_tag(message, field, FIXED32);
    append_fixed(message, bits, sizeof bits);
}

void imp_message_bytes(imp_message *message, unsigned field, const void *bytes, size_t size)
{
    append_tag(message, field, DELIMITED);
    append_varint(message, size);
    append(message, bytes, size);
}

void imp_message_text(imp_message *message, unsigned field, const char *text)
{
    imp_message_bytes(message, field, text, strlen(text));
}

void imp_message_nest(imp_message *message, unsigned field, imp_message *inner)
{
    message->failed |= inner->failed;
    imp_message_bytes(message, field, inner->bytes, inner->size);
    imp_message_clear(inner);
}

void imp_message_clear(imp_message *message)
{
    imp_release(message->bytes);
    *message = (imp_message){0};
}
