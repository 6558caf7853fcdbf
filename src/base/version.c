/*
 * version.c - the version of the library itself, which may differ from the header a program was
 * compiled against.
 */
#include <imp/version.h>

#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || UINTPTR_MAX != UINT64_MAX
#error "imp needs a 64-bit little-endian machine, such as x86-64 or arm64"
#endif

const char *imp_version(void)
{
    return IMP_VERSION_STRING;
}
