/*
 * consumer.c - the smallest application: compiled against the installed headers, linked to the
 * installed library.
 */
#include <stdio.h>
#include <string.h>

#include <imp/memory.h>
#include <imp/status.h>
#include <imp/version.h>

int main(void)
{
    if (strcmp(imp_version(), IMP_VERSION_STRING) != 0) {
        fprintf(stderr, "the header is %s but the library is %s\n", IMP_VERSION_STRING,
                imp_version());
        return 1;
    }
    imp_set_allocator(NULL);
    puts(imp_status_name(IMP_OK));
    return 0;
}
