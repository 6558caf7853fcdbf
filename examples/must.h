/* must.h - ends an example with the library's message if a call fails. */
#ifndef MUST_H
#define MUST_H

#include <stdio.h>
#include <stdlib.h>

#include <imp/status.h>

static inline void must(imp_status status, const imp_error *error)
{
    if (status == IMP_OK)
        return;
    fprintf(stderr, "%s: %s\n", imp_status_name(status), error->message);
    exit(EXIT_FAILURE);
}

#endif
