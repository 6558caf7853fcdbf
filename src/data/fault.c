/* fault.c - keeping sentences, the one of lack of memory without taking any. */
#include "data/fault.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

static char no_memory[] = "out of memory"; /* known by its address */

char *imp_fault_keep(const char *name, const imp_error *error)
{
    if (error->status == IMP_ENOMEM)
        return no_memory;
    const char *between = name != NULL ? ": " : "";
    if (name == NULL)
        name = "";
    size_t room = strlen(name) + strlen(between) + strlen(error->message) + 1;
    char *text = imp_allocate(room, 1);
    if (text == NULL)
        return no_memory;
    snprintf(text, room, "%s%s%s", name, between, error->message);
    return text;
}

bool imp_fault_is_memory(const char *fault)
{
    return fault == no_memory;
}

void imp_fault_release(char *fault)
{
    if (!imp_fault_is_memory(fault))
        imp_release(fault);
}
