/* npy_roundtrip.c - loads a .npy file and saves it again, for check_numpy.py to compare. */
#include <stdio.h>

#include "base/npy.h"

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "usage: npy_roundtrip IN.npy OUT.npy\n");
        return 2;
    }
    imp_array array;
    imp_error error;
    imp_status status = imp_npy_load(arguments[1], &array, &error);
    if (status == IMP_OK)
        status = imp_npy_save(arguments[2], &array, &error);
    if (status != IMP_OK)
        fprintf(stderr, "%s\n", error.message);
    imp_array_clear(&array);
    return status == IMP_OK ? 0 : 1;
}
