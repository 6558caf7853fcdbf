/* old_words.c - names that have changed. */
#include "base/old_words.h"

#include <stddef.h>
#include <string.h>

typedef struct renamed {
    const char *before, *now;
} renamed;

static const renamed choices[] = {{"characters", "classes"}, {"alphabets", "super-classes"}};
static const renamed options[] = {{"kind", "task"}};

static const char *find(const renamed *list, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].before, word) == 0)
            return list[i].now;
    return NULL;
}

const char *imp_choice_now(const char *word)
{
    return find(choices, sizeof choices / sizeof *choices, word);
}

const char *imp_option_now(const char *name)
{
    return find(options, sizeof options / sizeof *options, name);
}
