/* answer_truth.c - reads the truth and compares answers with it. */
#include "cli/answer_truth.h"

#include "cli/cli.h"

int imp_truth_read(const char *command, const char *path, size_t count, const imp_labels *names,
                   bool none, imp_answer_truth *truth)
{
    *truth = (imp_answer_truth){0};
    imp_error error;
    if (!path)
        return IMP_GO_ON;
    if (imp_labels_read(path, &truth->labels, &error) ||
        imp_labels_renumber(&truth->labels, (const char *const *)names->names, names->classes,
                            &error))
        return imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message);
    if (truth->labels.count != count)
        return imp_complain(IMP_EXIT_FAILURE, command,
                            "%s has %zu labels for %zu points; each point needs one", path,
                            truth->labels.count, count);
    return imp_answer_counts_make(command, &truth->confusion,
                                  (const char *const *)truth->labels.names, truth->labels.classes,
                                  names->classes, none);
}

void imp_truth_clear(imp_answer_truth *truth)
{
    imp_answer_counts_clear(&truth->confusion);
    imp_labels_clear(&truth->labels);
}

void imp_truth_count(imp_answer_truth *truth, size_t begin, const int32_t *answer, size_t count)
{
    if (truth->confusion.count)
        imp_answer_counts_add(&truth->confusion, truth->labels.label + begin, answer, count);
}

void imp_truth_print(const imp_answer_truth *truth)
{
    if (truth->confusion.count)
        imp_answer_counts_print(&truth->confusion, "with a true class");
}

void imp_truth_to_json(const imp_answer_truth *truth, json_t *object)
{
    if (truth->confusion.count)
        imp_answer_counts_to_json(&truth->confusion, object);
}
