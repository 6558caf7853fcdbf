/* fault.c - stores faults; out of memory needs no allocation. */
#include "data/fault.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static imp_fault no_memory = {IMP_ENOMEM, "out of memory"};

imp_fault *imp_fault_keep(const char *name, const imp_error *error)
{
    if (error->status == IMP_ENOMEM)
        return &no_memory;
    const char *between = name != NULL ? ": " : "";
    if (name == NULL)
        name = "";
    size_t room = strlen(name) + strlen(between) + strlen(error->message) + 1;
    imp_fault *fault = imp_allocate(1, sizeof *fault + room);
    if (fault == NULL)
        return &no_memory;
    char *sentence = (char *)(fault + 1);
    snprintf(sentence, room, "%s%s%s", name, between, error->message);
    *fault = (imp_fault){error->status, sentence};
    return fault;
}

bool imp_fault_is_memory(const imp_fault *fault)
{
    return fault == &no_memory;
}

void imp_fault_release(imp_fault *fault)
{
    if (!imp_fault_is_memory(fault))
        imp_release(fault);
}
