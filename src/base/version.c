/*
 * version.c - the version of the library itself, for programs that were compiled against the
 * header of another one.
 */
#include <imp/version.h>

const char *imp_version(void)
{
    return IMP_VERSION_STRING;
}
