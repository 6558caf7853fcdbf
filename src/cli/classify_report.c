/*
 * classify_report.c - how good the answers of `imp classify` on pictures are: accuracy if the truth
 * is known, and which to doubt. Also writes the answers as CSV.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "base/utf8.h"
#include "cli/answer_counts.h"
#include "cli/classify.h"

static const char command[] = "classify";

/* ---- the truth ---- */

/* The class named by the first folder of a path below `operand`, or -1. */
static int32_t true_class(const imp_gallery *support, const char *operand, const char *path)
{
    size_t length = strlen(operand);
    while (length > 1 && operand[length - 1] == '/')
        length--;
    if (strncmp(path, operand, length) != 0 || path[length] != '/')
        return -1;
    for (const char *at = path + length + 1, *slash; (slash = strchr(at, '/')); at = slash + 1)
        for (size_t c = 0; c < support->class_count; c++)
            if (strlen(support->classes[c]) == (size_t)(slash - at) &&
                strncmp(support->classes[c], at, (size_t)(slash - at)) == 0)
                return (int32_t)c;
    return -1;
}

int imp_classify_truth(imp_classification *work, char **paths, int count)
{
    const imp_gallery *queries = &work->queries.gallery;
    work->truth = malloc((queries->count ? queries->count : 1) * sizeof *work->truth);
    if (!work->truth)
        return imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    work->known = work->right = 0;
    for (size_t q = 0; q < queries->count; q++) {
        work->truth[q] = -1;
        for (int i = 0; i < count && work->truth[q] < 0; i++)
            work->truth[q] =
                true_class(&work->support.gallery, paths[i], queries->pictures[q].path);
        work->known += work->truth[q] >= 0;
        work->right += work->truth[q] >= 0 && work->truth[q] == work->answers[q].class;
    }
    return IMP_GO_ON;
}

/* Answers compared with the truth. */
static int confuse(const imp_classification *work, imp_answer_counts *confusion)
{
    const imp_gallery *support = &work->support.gallery;
    int status =
        imp_answer_counts_make(command, confusion, (const char *const *)support->classes,
                               support->class_count, support->class_count, work->given->open_set);
    for (size_t q = 0; q < work->queries.rows.count && status == IMP_GO_ON; q++)
        imp_answer_counts_add(confusion, &work->truth[q], &work->answers[q].class, 1);
    return status;
}

void imp_classify_print_truth(const imp_classification *work)
{
    imp_answer_counts confusion;
    if (confuse(work, &confusion) == IMP_GO_ON)
        imp_answer_counts_print(&confusion, "in folders named after classes");
    imp_answer_counts_clear(&confusion);
}

void imp_classify_truth_to_json(const imp_classification *work, json_t *object)
{
    imp_answer_counts confusion;
    if (confuse(work, &confusion) == IMP_GO_ON)
        imp_answer_counts_to_json(&confusion, object);
    imp_answer_counts_clear(&confusion);
}

/* ---- doubts ---- */

static double distance_between(const float *a, const float *b, size_t dimensions)
{
    double sum = 0;
    for (size_t j = 0; j < dimensions; j++)
        sum += ((double)a[j] - b[j]) * ((double)a[j] - b[j]);
    return sum;
}

/* The largest squared distance from a support to its nearest other support; 0 for a single
 * support. */
static double loneliest_support(const imp_rows *support)
{
    enum { MOST = 2000 }; /* a sample is enough */
    size_t count = support->count < MOST ? support->count : MOST, d = support->dimensions;
    double largest = 0;
    for (size_t i = 0; i < count; i++) {
        double nearest = INFINITY;
        for (size_t k = 0; k < count; k++)
            if (k != i) {
                double distance =
                    distance_between(support->values + i * d, support->values + k * d, d);
                nearest = distance < nearest ? distance : nearest;
            }
        if (nearest < INFINITY && nearest > largest)
            largest = nearest;
    }
    return largest;
}

void imp_classify_doubt(const imp_classification *work)
{
    const imp_gallery *support = &work->support.gallery;
    size_t count = work->queries.rows.count, strange = 0;
    const char *word = imp_picture_word(&work->given->pictures);
    if (support->class_count == 1 && !work->given->open_set)
        imp_complain(EXIT_SUCCESS, command,
                     "'%s' is the only class, so every answer is '%s' with probability 1; add "
                     "another class, or use --open-set with --unlabeled FOLDER",
                     support->classes[0], support->classes[0]);
    double lonely = loneliest_support(&work->support.rows);
    for (size_t q = 0; q < count; q++)
        strange += lonely > 0 && work->answers[q].distance > 2 * lonely;
    if (2 * strange > count)
        imp_complain(EXIT_SUCCESS, command,
                     "%zu of the %zu %ss are unlike all known ones (more than twice as far from "
                     "the nearest as any known one from the others); their answers mean little",
                     strange, count, word);
}

/* ---- order ---- */

static const imp_classification *sorted; /* for qsort(), which takes no context */

static int compare_certainty(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    double p = sorted->answers[left].probability, q = sorted->answers[right].probability;
    if (p != q)
        return p < q ? -1 : 1;
    return left < right ? -1 : left > right;
}

size_t *imp_classify_order(const imp_classification *work)
{
    size_t count = work->queries.rows.count;
    size_t *order = malloc((count ? count : 1) * sizeof *order);
    for (size_t q = 0; order && q < count; q++)
        order[q] = q;
    sorted = work;
    if (order)
        qsort(order, count, sizeof *order, compare_certainty);
    return order;
}

/* ---- CSV ---- */

static imp_status write_text(imp_writer *writer, const char *text, imp_error *error)
{
    return imp_writer_write(writer, text, strlen(text), error);
}

/* A field, in quotes if it needs them (RFC 4180). */
static imp_status write_field(imp_writer *writer, const char *text, imp_error *error)
{
    if (!strpbrk(text, ",\"\r\n"))
        return write_text(writer, text, error);
    imp_status status = write_text(writer, "\"", error);
    for (; *text && !status; text++)
        status =
            imp_writer_write(writer, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1, error);
    return status ? status : write_text(writer, "\"", error);
}

static const char *class_or(const imp_classification *work, int32_t class, const char *none)
{
    return class < 0 ? none : work->support.gallery.classes[class];
}

imp_status imp_classify_csv(const imp_classification *work, const char *path, imp_error *error)
{
    imp_writer writer;
    imp_status status = imp_writer_open(&writer, path, error);
    if (!status)
        status = write_text(&writer, "picture,answer,probability,nearest,class\n", error);
    for (size_t q = 0; q < work->queries.rows.count && !status; q++) {
        const imp_answer *answer = &work->answers[q];
        char probability[32];
        imp_number_write(answer->probability, 9, probability, sizeof probability);
        const char *fields[] = {work->queries.gallery.pictures[q].path,
                                class_or(work, answer->class, "none of these"), probability,
                                work->support.gallery.pictures[answer->nearest].path,
                                class_or(work, work->truth[q], "")};
        for (size_t i = 0; i < 5 && !status; i++) {
            status = write_field(&writer, fields[i], error);
            if (!status)
                status = write_text(&writer, i < 4 ? "," : "\n", error);
        }
    }
    if (!status)
        status = imp_writer_commit(&writer, error);
    imp_writer_abandon(&writer);
    return status;
}
