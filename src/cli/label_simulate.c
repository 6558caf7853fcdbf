/* label_simulate.c - `imp label --simulate`: how much the order of questions helps. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/interrupt.h"
#include "cli/label.h"
#include "draw/chart.h"
#include "label/simulate.h"

static const char command[] = "label";

/* Accuracy after each answer, in one order. */
typedef struct curve {
    double *answers, *right, *least, *most; /* (capacity) */
    size_t count, capacity;
} curve;

static imp_status note(const imp_simulated_step *step, imp_error *error, void *context)
{
    curve *own = context;
    own->answers[own->count] = (double)step->answers;
    own->right[own->count] = step->right;
    own->least[own->count] = step->estimate.least;
    own->most[own->count++] = step->estimate.most;
    return imp_interrupt_check(error);
}

static bool make_room(curve *own, size_t capacity)
{
    *own = (curve){malloc(4 * capacity * sizeof(double)), NULL, NULL, NULL, 0, capacity};
    own->right = own->answers + capacity;
    own->least = own->right + capacity;
    own->most = own->least + capacity;
    return own->answers != NULL;
}

static json_t *curve_json(const curve *own)
{
    json_t *right = json_array(), *least = json_array(), *most = json_array();
    for (size_t k = 0; k < own->count; k++) {
        json_array_append_new(right, imp_json_number(own->right[k]));
        json_array_append_new(least, imp_json_number(own->least[k]));
        json_array_append_new(most, imp_json_number(own->most[k]));
    }
    return json_pack("{s: o, s: o, s: o}", "right", right, "least", least, "most", most);
}

static void print_curves(const curve *asked, const curve *random)
{
    printf("answers   asked   random   the page says\n");
    size_t step = asked->count > 1000 ? asked->count / 10 : asked->count > 100 ? 100 : 10;
    for (size_t k = step - 1; k < asked->count; k += step) {
        printf("%7zu  %5.1f%%   %5.1f%%   ", k + 1, 100 * asked->right[k], 100 * random->right[k]);
        if (asked->least[k] == asked->least[k])
            printf("%.1f to %.1f%%\n", 100 * asked->least[k], 100 * asked->most[k]);
        else
            printf("nothing yet\n");
    }
}

static int draw(const curve *asked, const curve *random, const char *figure)
{
    imp_chart_series series[] = {
        {.name = "as the page asks", .x = asked->answers, .y = asked->right, .count = asked->count},
        {.name = "in random order",
         .x = random->answers,
         .y = random->right,
         .count = random->count,
         .dashed = true},
    };
    imp_chart chart = {.x_title = "answers",
                       .y_title = "fraction of the pile that is right",
                       .series = series,
                       .series_count = 2};
    imp_error error;
    return imp_chart_save(&chart, figure, &error)
               ? imp_complain(IMP_EXIT_FAILURE, command, "%s", error.message)
               : IMP_GO_ON;
}

static int run(const imp_label_pile *pile, const imp_label_simulation *given, const int32_t *truth,
               bool shuffled, curve *out)
{
    imp_simulation simulation = {.points = pile->rows.values,
                                 .count = pile->count,
                                 .dimensions = pile->rows.dimensions,
                                 .truth = truth,
                                 .shuffled = shuffled,
                                 .answers = out->capacity,
                                 .seed = (uint64_t)given->seed,
                                 .threads = (int)given->threads,
                                 .told = note,
                                 .context = out};
    imp_error error;
    if (imp_simulate(&simulation, &error) == IMP_OK)
        return IMP_GO_ON;
    return imp_complain(imp_interrupted() ? IMP_EXIT_INTERRUPTED : IMP_EXIT_FAILURE, command, "%s",
                        error.message);
}

static int show(const imp_label_pile *pile, const imp_label_simulation *given, const curve *asked,
                const curve *random)
{
    int status = given->figure ? draw(asked, random, given->figure) : IMP_GO_ON;
    if (status != IMP_GO_ON)
        return status;
    if (!given->json) {
        print_curves(asked, random);
        return EXIT_SUCCESS;
    }
    json_t *object = imp_json_begin();
    json_object_set_new(object, "pile", imp_json_any_text(pile->place));
    json_object_set_new(object, "items", json_integer((json_int_t)pile->count));
    json_object_set_new(object, "seed", json_integer(given->seed));
    json_object_set_new(object, "asked", curve_json(asked));
    json_object_set_new(object, "random", curve_json(random));
    return imp_json_print(command, object);
}

int imp_label_simulate(const imp_label_pile *pile, const imp_label_simulation *given)
{
    int32_t *truth;
    int status = imp_label_truth(pile, given->truth, &truth);
    if (status != IMP_GO_ON)
        return status;
    size_t answers = (size_t)given->answers < pile->count ? (size_t)given->answers : pile->count;
    curve asked = {0}, random = {0};
    bool room = make_room(&asked, answers) && make_room(&random, answers);
    imp_interrupt_catch();
    status = room ? run(pile, given, truth, false, &asked)
                  : imp_complain(IMP_EXIT_FAILURE, command, "out of memory");
    if (status == IMP_GO_ON)
        status = run(pile, given, truth, true, &random);
    if (status == IMP_GO_ON)
        status = show(pile, given, &asked, &random);
    free(asked.answers);
    free(random.answers);
    free(truth);
    return status;
}
