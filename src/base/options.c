/* options.c - exchanges options structs between a caller and a library of different versions. */
#include "base/options.h"

#include <string.h>

#include "base/error.h"

void imp_give_options(void *options, size_t known, const void *defaults, size_t size)
{
    if (known < sizeof known)
        return;
    memset(options, 0, known);
    memcpy(options, defaults, known < size ? known : size);
    *(size_t *)options = known;
}

static imp_status take_unknown(const unsigned char *rest, size_t count, const char *name,
                               imp_error *error)
{
    for (size_t i = 0; i < count; i++)
        if (rest[i] != 0)
            return imp_fail(error, IMP_EINVAL,
                            "%s sets an option that this library does not know: the program was "
                            "built for a newer version",
                            name);
    return IMP_OK;
}

imp_status imp_take_options(void *options, size_t size, const void *given, const char *name,
                            imp_error *error)
{
    if (!given)
        return IMP_OK;
    size_t known = *(const size_t *)given;
    if (known < sizeof known)
        return imp_fail(
            error, IMP_EINVAL,
            "the options' size is %zu; start from their defaults, with the size sizeof(%s), %zu",
            known, name, size);
    if (known > size) {
        imp_status status =
            take_unknown((const unsigned char *)given + size, known - size, name, error);
        if (status)
            return status;
        known = size;
    }
    memcpy(options, given, known);
    *(size_t *)options = size;
    return IMP_OK;
}
