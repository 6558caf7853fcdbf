/* hex.h - bytes, such as digests, as hexadecimal digits. */
#ifndef IMP_BASE_HEX_H
#define IMP_BASE_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Two lower-case digits for each byte; `text` has room for them and a zero byte. */
static inline void imp_hex(const uint8_t *bytes, size_t count, char *text)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[bytes[i] >> 4];
        text[2 * i + 1] = digits[bytes[i] & 15];
    }
    text[2 * count] = '\0';
}

#endif
