/* run_state.c - reads a run's checkpoint and log without disturbing a training in progress. */
#include "paper/run_state.h"

#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "paper/runs.h"
#include "train/run_folder.h"

static imp_status check_settings(const char *folder, const imp_settings *wanted, uint64_t *update,
                                 imp_error *error)
{
    imp_settings there;
    imp_status status = imp_training_glance(folder, &there, update, error);
    const char *name = status ? NULL : imp_paper_disagreement(&there, wanted);
    if (name)
        status = imp_fail(error, IMP_EINVAL,
                          "the run in '%s' has a different '%s' than the table needs; move it "
                          "away, or give another folder with --runs",
                          folder, name);
    imp_settings_clear(&there);
    return status;
}

/* One line of the log: images since the previous line, and the time. A partial line is ignored. */
static void read_line(const char *line, size_t length, double *images, double *seconds)
{
    json_t *object = json_loadb(line, length, 0, NULL);
    const json_t *speed = json_object_get(object, "images_per_second");
    const json_t *time = json_object_get(object, "seconds");
    if (json_is_number(speed) && json_is_number(time)) {
        double until = json_number_value(time);
        *images += json_number_value(speed) * (until - *seconds);
        *seconds = until;
    }
    json_decref(object);
}

static imp_status read_log(const char *folder, imp_training_state *state, imp_error *error)
{
    enum { LIMIT = 256 << 20 };
    unsigned char *text;
    size_t size;
    double images = 0;
    if (!imp_training_has(folder, "log.jsonl"))
        return IMP_OK;
    imp_status status =
        imp_file_read(imp_training_file(folder, "log.jsonl").text, LIMIT, &text, &size, error);
    if (status)
        return status;
    for (const char *line = (const char *)text; *line;) {
        size_t length = strcspn(line, "\n");
        read_line(line, length, &images, &state->seconds);
        line += length + (line[length] == '\n');
    }
    imp_release(text);
    if (state->seconds > 0)
        state->images_per_second = images / state->seconds;
    return IMP_OK;
}

imp_status imp_training_look(const char *folder, const imp_settings *wanted,
                             imp_training_state *state, imp_error *error)
{
    *state = (imp_training_state){0};
    if (!imp_training_has(folder, imp_checkpoint_name) &&
        !imp_training_has(folder, imp_settings_name))
        return IMP_OK;
    state->stage = IMP_RUN_BEGUN;
    imp_status status = check_settings(folder, wanted, &state->update, error);
    if (!status)
        status = read_log(folder, state, error);
    if (!status && state->update >= (uint64_t)wanted->updates &&
        imp_training_has(folder, imp_model_name))
        state->stage = IMP_RUN_TRAINED;
    return status;
}
