/*
 * mixture_bytes.c - a mixture as bytes, for a database or a pipe, with the names of its classes.
 *
 * Last line: (9, 11) is a dog
 */
#include <string.h>

#include <imp/mixture.h>

#include "must.h"

int main(void)
{
    const float points[] = {0, 0, 0, 1, 10, 10, 10, 11};
    const int32_t labels[] = {0, 0, 1, 1};
    imp_mixture *mixture, *back;
    imp_error error;
    must(imp_mixture_fit(points, labels, 4, 2, NULL, &mixture, &error), &error);
    /* Classes are numbers; the application keeps their names in the note. */
    must(imp_mixture_set_note(mixture, "cat dog", &error), &error);

    unsigned char *bytes;
    size_t size;
    must(imp_mixture_to_bytes(mixture, &bytes, &size, &error), &error);
    imp_mixture_free(mixture);
    printf("%zu bytes to keep\n", size);

    must(imp_mixture_from_bytes(bytes, size, &back, &error), &error);
    imp_mixture_bytes_free(bytes);
    int32_t found;
    must(imp_mixture_predict(back, (float[]){9, 11}, 1, 2, false,
                             &(imp_mixture_predictions){.label = &found}, &error),
         &error);
    char names[100];
    snprintf(names, sizeof names, "%s", imp_mixture_note(back));
    char *name = strtok(names, " ");
    for (int32_t i = 0; i < found; i++)
        name = strtok(NULL, " ");
    printf("(9, 11) is a %s\n", name);
    imp_mixture_free(back);
    return 0;
}
