/* options.c - taking options from callers of this version and older ones. */
#include "base/options.h"

#include <string.h>

#include "base/error.h"

imp_status imp_take_options(void *options, size_t size, const void *given, const char *name,
                            imp_error *error)
{
    if (!given)
        return IMP_OK;
    size_t known = *(const size_t *)given;
    if (known > size)
        return imp_fail(error, IMP_EINVAL,
                        "the options' size is %zu, and sizeof(%s) is %zu here: the program was "
                        "built for a newer library",
                        known, name, size);
    if (known < sizeof known)
        return imp_fail(error, IMP_EINVAL,
                        "the options' size is %zu; begin with their defaults, and their size, "
                        "sizeof(%s), %zu",
                        known, name, size);
    memcpy(options, given, known);
    *(size_t *)options = size;
    return IMP_OK;
}
