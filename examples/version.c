/*
 * version.c - checks that the library at run time is the version the program was compiled against.
 *
 * Last line: the header and the library agree
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <imp/version.h>

int main(void)
{
    printf("header %d.%d.%d of %s, library %s\n", IMP_VERSION_MAJOR, IMP_VERSION_MINOR,
           IMP_VERSION_PATCH, IMP_VERSION_DATE, imp_version());
    bool same = strcmp(imp_version(), IMP_VERSION_STRING) == 0;
    printf("the header and the library %s\n", same ? "agree" : "differ");
    return same ? 0 : 1;
}
