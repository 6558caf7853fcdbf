/* answer_counts.c - the confusion matrix of answers: counts, prints and reports it. */
#include "cli/answer_counts.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"
#include "cli/cli.h"

static size_t columns_of(const imp_answer_counts *confusion)
{
    return confusion->classes + confusion->none;
}

int imp_answer_counts_make(const char *command, imp_answer_counts *confusion,
                           const char *const *names, size_t rows, size_t classes, bool none)
{
    *confusion =
        (imp_answer_counts){.names = names, .rows = rows, .classes = classes, .none = none};
    confusion->count = calloc(rows * columns_of(confusion) + 1, sizeof *confusion->count);
    return confusion->count ? IMP_GO_ON : imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
}

void imp_answer_counts_add(imp_answer_counts *confusion, const int32_t *truth,
                           const int32_t *answer, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (truth[i] < 0)
            continue;
        size_t row = (size_t)truth[i];
        size_t column = answer[i] < 0 ? confusion->classes : (size_t)answer[i];
        confusion->known++;
        confusion->right += row < confusion->classes ? row == column : answer[i] < 0;
        if (column < columns_of(confusion))
            confusion->count[row * columns_of(confusion) + column]++;
    }
}

void imp_answer_counts_clear(imp_answer_counts *confusion)
{
    free(confusion->count);
    *confusion = (imp_answer_counts){0};
}

void imp_answer_counts_print(const imp_answer_counts *confusion, const char *which)
{
    enum { MOST_CLASSES = 20 };
    size_t rows = confusion->rows, columns = columns_of(confusion), width = 7;
    if (confusion->known == 0)
        return;
    printf("\naccuracy %.2f%%: %zu of the %zu %s are right\n",
           100.0 * (double)confusion->right / (double)confusion->known, confusion->right,
           confusion->known, which);
    if (rows > MOST_CLASSES)
        return; /* too wide for a terminal; --json has it */
    for (size_t r = 0; r < rows; r++) {
        size_t length = imp_utf8_length(confusion->names[r]);
        width = length > width ? length : width;
    }
    printf("\n%-*s  answers\n%*s", (int)width, "class", (int)width, "");
    for (size_t c = 0; c < columns; c++) {
        printf("  ");
        const char *name = c < confusion->classes ? confusion->names[c] : "none";
        printf("%*s", imp_utf8_length(name) < 6 ? (int)(6 - imp_utf8_length(name)) : 0, "");
        imp_print_text(name, stdout);
    }
    putchar('\n');
    for (size_t r = 0; r < rows; r++) {
        const char *name = confusion->names[r];
        imp_print_text(name, stdout);
        printf("%*s", (int)(width - imp_utf8_length(name)), "");
        for (size_t c = 0; c < columns; c++) {
            size_t above = imp_utf8_length(c < confusion->classes ? confusion->names[c] : "none");
            printf("  %*zu", (int)(above < 6 ? 6 : above), confusion->count[r * columns + c]);
        }
        putchar('\n');
    }
}

void imp_answer_counts_to_json(const imp_answer_counts *confusion, json_t *object)
{
    if (confusion->known == 0)
        return;
    size_t columns = columns_of(confusion);
    json_t *matrix = json_array();
    for (size_t r = 0; r < confusion->rows; r++) {
        json_t *row = json_array();
        for (size_t c = 0; c < columns; c++)
            json_array_append_new(row, json_integer((json_int_t)confusion->count[r * columns + c]));
        json_array_append_new(matrix, row);
    }
    json_object_set_new(object, "known", json_integer((json_int_t)confusion->known));
    json_object_set_new(object, "accuracy",
                        imp_json_number((double)confusion->right / (double)confusion->known));
    json_object_set_new(object, "confusion", matrix);
}
