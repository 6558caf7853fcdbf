/*
 * suggest.c - which of many points to label next: a few answers label all of 60 points.
 *
 * Last line: 4 answers of 60, all others guessed; 60 are right
 */
#include <imp/suggest.h>

#include "must.h"

enum { GROUPS = 3, EACH = 20, POINTS = GROUPS * EACH };

int main(void)
{
    static const float corner[GROUPS][2] = {{0, 0}, {10, 0}, {0, 10}};
    float points[2 * POINTS];
    int32_t truth[POINTS], labels[POINTS];
    for (int i = 0; i < POINTS; i++) {
        truth[i] = i % GROUPS;
        points[2 * i] = corner[truth[i]][0] + (float)(i * 37 % 101) / 101;
        points[2 * i + 1] = corner[truth[i]][1] + (float)(i * 59 % 103) / 103;
    }

    /* Known groups, here by position, may be given; otherwise imp_cluster() finds them. */
    imp_suggester_options options = imp_suggester_defaults();
    options.group = truth;
    imp_suggester *suggester;
    imp_error error;
    must(imp_suggester_create(points, POINTS, 2, &options, &suggester, &error), &error);
    printf("point 0 is in group %d\n", (int)imp_suggester_groups(suggester)[0]);

    for (int question = 0; question < 4; question++) {
        imp_suggestion next;
        size_t found;
        must(imp_suggester_next(suggester, 1, &next, &found, &error), &error);
        const char *why = next.reason == IMP_SUGGEST_TYPICAL ? "typical of a group" : "least sure";
        printf("point %zu, %s, seems to be %d (%.2f)\n", next.point, why, (int)next.guess,
               next.sure);
        must(imp_suggester_answer(suggester, next.point, truth[next.point], &error), &error);
    }

    imp_suggester_summary summary = imp_suggester_summarize(suggester);
    printf("%.2f of the guesses are expected to be right\n", summary.expected);
    imp_suggester_guess(suggester, labels, NULL);
    int right = 0;
    for (int i = 0; i < POINTS; i++)
        right += labels[i] == truth[i];
    printf("%zu answers of %zu, all others guessed; %d are right\n", summary.answered,
           summary.points, right);
    imp_suggester_free(suggester);
    return 0;
}
