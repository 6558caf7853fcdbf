/* utf8.c - finds characters in UTF-8, and replaces invalid bytes. */
#include "base/utf8.h"

#include <string.h>

#include "base/memory.h"

size_t imp_utf8_size(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80)
        return 1;
    size_t size = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    /* The second byte of these would spell a character in more bytes than it takes, half of a
     * surrogate pair, or one beyond the last. */
    if (at[0] < 0xC2 || at[0] > 0xF4 || (at[0] == 0xE0 && at[1] < 0xA0) ||
        (at[0] == 0xED && at[1] > 0x9F) || (at[0] == 0xF0 && at[1] < 0x90) ||
        (at[0] == 0xF4 && at[1] > 0x8F))
        return 0;
    for (size_t i = 1; i < size; i++)
        if ((at[i] & 0xC0u) != 0x80u)
            return 0;
    return size;
}

bool imp_is_utf8(const char *text)
{
    while (*text != '\0') {
        size_t size = imp_utf8_size(text);
        if (size == 0)
            return false;
        text += size;
    }
    return true;
}

size_t imp_utf8_control(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] == 0xC2 && at[1] >= 0x80 && at[1] < 0xA0)
        return 2;
    return (at[0] < 0x20 && at[0] != '\0') || at[0] == 0x7F;
}

size_t imp_utf8_length(const char *text)
{
    size_t length = 0;
    while (*text) {
        size_t size = imp_utf8_size(text);
        text += size > 0 ? size : 1;
        length++;
    }
    return length;
}

char *imp_utf8_repair(const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */
    enum { LONGEST = sizeof replacement - 1 };
    char *repaired = imp_allocate(strlen(text) + 1, LONGEST), *to = repaired;
    if (repaired == NULL)
        return NULL;
    while (*text) {
        size_t size = imp_utf8_size(text);
        memcpy(to, size > 0 ? text : replacement, size > 0 ? size : LONGEST);
        to += size > 0 ? size : LONGEST;
        text += size > 0 ? size : 1;
    }
    *to = '\0';
    return repaired;
}
