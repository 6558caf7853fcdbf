/*
 * test_project.c - a project is what was answered: after it was closed, after the power went off
 * anywhere, after the pile changed; and changes that make no sense change nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "label/project.h"
#include "power_loss.h"
#include "scratch.h"
#include "system_calls.h"

enum { N = 24, D = 3 };

static float points[(N + 1) * D];
static char name_texts[N + 1][16];
static const char *names[N + 1];
static uint64_t digests[N + 1];

static imp_project_pile make_pile(size_t count)
{
    for (size_t i = 0; i <= N; i++) {
        for (size_t j = 0; j < D; j++)
            points[i * D + j] = (float)((i % 3) * 10 * (j == 0) + 0.1 * (double)((i * 7 + j) % 5));
        snprintf(name_texts[i], sizeof name_texts[i], "item %zu", i);
        names[i] = name_texts[i];
        digests[i] = 1000 + i;
    }
    return (imp_project_pile){"pictures", "pile", "a model", names, digests, points, count, D};
}

static imp_project open_project(const char *path, const imp_project_pile *pile,
                                imp_project_news *news)
{
    imp_project project;
    imp_error error;
    if (imp_project_open(&project, path, pile, 1, 1, news, &error) != IMP_OK)
        fail_msg("%s", error.message);
    return project;
}

static imp_status change(imp_project *project, const char *text, imp_error *error)
{
    json_t *object = json_loads(text, 0, NULL);
    assert_non_null(object);
    imp_status status = imp_project_change(project, object, error);
    json_decref(object);
    return status;
}

static void must_change(imp_project *project, const char *text)
{
    imp_error error;
    if (change(project, text, &error) != IMP_OK)
        fail_msg("%s: %s", text, error.message);
}

static const char *class_of(const imp_project *project, size_t item)
{
    int32_t class = project->state.all.class[item];
    return class == IMP_UNKNOWN ? NULL : project->classes[class];
}

/* ---- coming back ---- */

static void a_project_comes_back(void **state)
{
    scratch_path path = scratch_file(state, "p.imp-label");
    imp_project_pile pile = make_pile(N);
    imp_project_news news;
    imp_project project = open_project(path.text, &pile, &news);
    must_change(&project,
                "{\"change\":\"label\",\"items\":[0],\"class\":\"red\",\"asked\":\"typical\"}");
    must_change(&project, "{\"change\":\"label\",\"items\":[1,4,7],\"class\":\"gr\\u00fcn\"}");
    must_change(&project,
                "{\"change\":\"label\",\"items\":[5],\"class\":\"blue\",\"asked\":\"drawn\"}");
    must_change(&project, "{\"change\":\"none\",\"items\":[2]}");
    must_change(&project, "{\"change\":\"rename\",\"from\":\"red\",\"to\":\"rot\"}");
    must_change(&project, "{\"change\":\"label\",\"items\":[3],\"class\":\"oops\"}");
    must_change(&project, "{\"change\":\"undo\"}");
    must_change(&project, "{\"change\":\"skip\",\"items\":[6]}");
    must_change(&project, "{\"change\":\"split\",\"items\":[0,1,2,3,4,5],\"pieces\":3}");
    must_change(&project, "{\"change\":\"join\",\"items\":[8,9]}");
    assert_string_equal(class_of(&project, 0), "rot");
    assert_null(class_of(&project, 3));
    imp_project again = {0};
    imp_error error;
    assert_int_equal(imp_project_open(&again, path.text, &pile, 1, 1, &news, &error), IMP_EIO);
    assert_non_null(strstr(error.message, "another"));

    size_t group[N], asked = project.state.asked;
    imp_question question = imp_label_state_question(&project.state);
    for (size_t i = 0; i < N; i++)
        group[i] = project.state.groups.group[i];
    imp_project_close(&project);
    project = open_project(path.text, &pile, &news);
    assert_int_equal(news.added + news.gone + news.changed + news.lost, 0);
    assert_string_equal(class_of(&project, 0), "rot");
    assert_string_equal(class_of(&project, 7), "grün");
    assert_string_equal(class_of(&project, 2), imp_none_of_these);
    assert_string_equal(class_of(&project, 5), "blue");
    assert_int_equal(project.state.drawn[5], imp_project_class(&project, "blue"));
    assert_int_equal(project.state.others.class[5], IMP_UNKNOWN);
    assert_null(class_of(&project, 3));
    assert_true(project.state.closed[6]);
    assert_int_equal(project.state.asked, asked);
    for (size_t i = 0; i < N; i++)
        assert_int_equal(project.state.groups.group[i], group[i]);
    assert_int_equal(imp_label_state_question(&project.state).item, question.item);
    must_change(&project, "{\"change\":\"undo\"}");
    assert_false(project.state.closed[6]);
    must_change(&project, "{\"change\":\"undo\"}");
    assert_string_equal(class_of(&project, 0), "red");
    must_change(&project, "{\"change\":\"rename\",\"from\":\"red\",\"to\":\"blue\"}");
    assert_string_equal(class_of(&project, 0), "blue");
    must_change(&project, "{\"change\":\"undo\"}");
    assert_string_equal(class_of(&project, 0), "red");

    /* a name that was given away and used again */
    must_change(&project, "{\"change\":\"rename\",\"from\":\"red\",\"to\":\"rouge\"}");
    must_change(&project, "{\"change\":\"label\",\"items\":[9],\"class\":\"red\"}");
    must_change(&project, "{\"change\":\"undo\"}");
    must_change(&project, "{\"change\":\"undo\"}");
    assert_string_equal(class_of(&project, 0), "red");
    imp_project_close(&project);
}

static void the_pile_may_change(void **state)
{
    scratch_path path = scratch_file(state, "p.imp-label");
    imp_project_pile pile = make_pile(N);
    imp_project_news news;
    imp_project project = open_project(path.text, &pile, &news);
    must_change(&project, "{\"change\":\"label\",\"items\":[0],\"class\":\"red\"}");
    must_change(&project, "{\"change\":\"label\",\"items\":[1],\"class\":\"blue\"}");
    imp_project_close(&project);
    /* The first is gone, the second another one, and there is a new one. */
    digests[1] = 7;
    imp_project_pile later = pile;
    later.name = names + 1;
    later.digest = digests + 1;
    later.points = points + D;
    project = open_project(path.text, &later, &news);
    assert_int_equal(news.gone, 1);
    assert_int_equal(news.changed, 1);
    assert_int_equal(news.added, 1);
    assert_string_equal(class_of(&project, 0), "red");
    assert_true(project.place[0] < 0 && project.changed[1] && !project.changed[2]);
    assert_int_equal(project.count, N + 1);
    for (size_t i = 2; i <= N; i++) /* the first two are all that was named */
        assert_true(isfinite(project.state.all.guess[i].distance));
    must_change(&project, "{\"change\":\"label\",\"items\":[1],\"class\":\"red\"}");
    assert_false(project.changed[1]);
    imp_project_close(&project);
    project = open_project(path.text, &later, &news);
    assert_int_equal(news.gone, 1);
    assert_int_equal(news.changed + news.added, 0);
    imp_project_close(&project);
    imp_error error;
    later.embedder = "another model";
    assert_int_equal(imp_project_open(&project, path.text, &later, 1, 1, &news, &error),
                     IMP_EINVAL);
    assert_non_null(strstr(error.message, "another model"));
}

static void nonsense_changes_nothing(void **unused)
{
    (void)unused;
    static const char *const nonsense[] = {
        "{}",
        "{\"change\":\"fly\"}",
        "{\"change\":\"label\",\"items\":[],\"class\":\"a\"}",
        "{\"change\":\"label\",\"items\":[24],\"class\":\"a\"}",
        "{\"change\":\"label\",\"items\":[-1],\"class\":\"a\"}",
        "{\"change\":\"label\",\"items\":[1.5],\"class\":\"a\"}",
        "{\"change\":\"label\",\"items\":\"1\",\"class\":\"a\"}",
        "{\"change\":\"label\",\"items\":[1]}",
        "{\"change\":\"label\",\"items\":[1],\"class\":\"\"}",
        "{\"change\":\"label\",\"items\":[1],\"class\":\"a\\nb\"}",
        "{\"change\":\"label\",\"items\":[1],\"class\":5}",
        "{\"change\":\"label\",\"items\":[1],\"class\":\"a\",\"asked\":\"why\"}",
        "{\"change\":\"rename\",\"from\":\"nobody\",\"to\":\"a\"}",
        "{\"change\":\"rename\",\"from\":\"none of these\",\"to\":\"a\"}",
        "{\"change\":\"split\",\"items\":[1],\"pieces\":2}",
        "{\"change\":\"split\",\"items\":[1,2],\"pieces\":-2}",
        "{\"change\":\"undo\"}",
    };
    imp_project_pile pile = make_pile(N);
    imp_project_news news;
    imp_project project = open_project(NULL, &pile, &news);
    for (size_t k = 0; k < sizeof nonsense / sizeof *nonsense; k++) {
        imp_error error;
        assert_int_equal(change(&project, nonsense[k], &error), IMP_EINVAL);
        assert_true(error.message[0]);
    }
    assert_int_equal(project.revision, 0);
    assert_int_equal(project.class_count, 1);
    must_change(&project, "{\"change\":\"label\",\"items\":[1,1],\"class\":\"a\"}");
    assert_int_equal(project.state.all.answered, 1);
    imp_project_close(&project);
}

/* ---- damage ---- */

static void damage_is_noticed(void **state)
{
    scratch_path path = scratch_file(state, "p.imp-label");
    imp_project_pile pile = make_pile(N);
    imp_project_news news;
    imp_project project = open_project(path.text, &pile, &news);
    must_change(&project, "{\"change\":\"label\",\"items\":[0],\"class\":\"red\"}");
    size_t before = project.journal.size;
    must_change(&project, "{\"change\":\"label\",\"items\":[1],\"class\":\"blue\"}");
    size_t size = project.journal.size;
    imp_project_close(&project);
    unsigned char *bytes;
    size_t read;
    imp_error error;
    assert_int_equal(imp_file_read(path.text, 1 << 20, &bytes, &read, &error), IMP_OK);
    assert_int_equal(read, size);
    for (size_t at = 0; at < size; at += 5) {
        bytes[at] ^= 4;
        scratch_write(path.text, bytes, size);
        imp_status status = imp_project_open(&project, path.text, &pile, 1, 1, &news, &error);
        if (at < before && bytes[at] != ('\n' ^ 4))
            assert_int_not_equal(status, IMP_OK);
        if (!status) { /* the last line was taken for one that was not finished */
            assert_int_equal(news.lost, size - before);
            assert_string_equal(class_of(&project, 0), "red");
            imp_project_close(&project);
        }
        bytes[at] ^= 4;
    }
    for (size_t cut = before; cut < size; cut++) {
        scratch_write(path.text, bytes, cut);
        project = open_project(path.text, &pile, &news);
        assert_int_equal(news.lost, cut - before);
        assert_string_equal(class_of(&project, 0), "red");
        assert_null(class_of(&project, 1));
        must_change(&project, "{\"change\":\"label\",\"items\":[2],\"class\":\"blue\"}");
        imp_project_close(&project);
        project = open_project(path.text, &pile, &news);
        assert_string_equal(class_of(&project, 2), "blue");
        imp_project_close(&project);
    }
    imp_release(bytes);
}

typedef struct promise {
    size_t confirmed, seen[3]; /* answers that were confirmed, and how many were found how often */
} promise;

static void is_what_was_answered(const char *folder, void *context)
{
    promise *own = context;
    char path[600];
    snprintf(path, sizeof path, "%s/p.imp-label", folder);
    if (access(path, F_OK) != 0) {
        own->seen[0]++;
        return;
    }
    imp_project_pile pile = make_pile(N);
    imp_project_news news;
    imp_project project = open_project(path, &pile, &news);
    assert_true(project.state.all.answered <= 2);
    own->seen[project.state.all.answered]++;
    imp_project_close(&project);
}

static void is_all_that_was_answered(const char *folder, void *context)
{
    promise *own = context;
    size_t before = own->seen[2];
    is_what_was_answered(folder, context);
    assert_int_equal(own->seen[2], before + 1);
}

static void power_may_go_off(void **state)
{
    scratch_path folder = scratch_file(state, "project"), after = scratch_file(state, "after");
    char path[600];
    assert_int_equal(mkdir(folder.text, 0777), 0);
    snprintf(path, sizeof path, "%s/p.imp-label", folder.text);
    imp_project_pile pile = make_pile(N);
    imp_project_news news;
    power_loss_watch(folder.text);
    imp_project project = open_project(path, &pile, &news);
    must_change(&project, "{\"change\":\"label\",\"items\":[0],\"class\":\"red\"}");
    must_change(&project, "{\"change\":\"label\",\"items\":[1],\"class\":\"blue\"}");
    imp_project_close(&project);
    promise own = {0};
    assert_true(
        power_loss_replay(after.text, is_what_was_answered, is_all_that_was_answered, &own) > 5);
    assert_true(own.seen[0] > 0 && own.seen[1] > 0 && own.seen[2] > 0);
}

/* Every call that writes an answer fails in turn: the answer is refused, and nothing is lost. */
static void calls_may_fail(void **state)
{
    scratch_path path = scratch_file(state, "p.imp-label");
    imp_project_pile pile = make_pile(N);
    imp_project_news news;
    imp_project project = open_project(path.text, &pile, &news);
    must_change(&project, "{\"change\":\"label\",\"items\":[0],\"class\":\"red\"}");
    const char *failed = "";
    for (size_t n = 1; failed; n++) {
        imp_error error;
        system_calls_fail(n);
        imp_status status =
            change(&project, "{\"change\":\"label\",\"items\":[1],\"class\":\"blue\"}", &error);
        failed = system_calls_end();
        assert_int_equal(status, failed ? IMP_EIO : IMP_OK);
        assert_int_equal(project.state.all.answered, failed ? 1 : 2);
        assert_true(n < 20);
    }
    imp_project_close(&project);
    project = open_project(path.text, &pile, &news);
    assert_int_equal(project.state.all.answered, 2);
    imp_project_close(&project);
}

/* Many answers at once are flushed once, and a failure is told. */
static void many_answers_are_flushed_once(void **state)
{
    scratch_path path = scratch_file(state, "p.imp-label");
    imp_project_pile pile = make_pile(N);
    imp_project_news news;
    imp_project project = open_project(path.text, &pile, &news);
    size_t flushes = 0;
    const char *failed = "";
    for (size_t n = 1; failed; n++) {
        imp_error error;
        system_calls_fail(n);
        imp_project_begin_many(&project);
        imp_status status = IMP_OK;
        for (size_t k = 0; k < 8 && !status; k++)
            status =
                change(&project, "{\"change\":\"label\",\"items\":[1],\"class\":\"blue\"}", &error);
        imp_status flushed = imp_project_end_many(&project, &error);
        failed = system_calls_end();
        assert_int_equal(status || flushed, failed != NULL);
        flushes += failed && strcmp(failed, "fsync") == 0;
        assert_int_equal(project.state.others.guess[0].class, project.state.all.guess[0].class);
    }
    assert_int_equal(flushes, 1);
    imp_project_close(&project);
    project = open_project(path.text, &pile, &news);
    assert_int_equal(project.state.all.answered, 1);
    imp_project_close(&project);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_project_comes_back, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(the_pile_may_change, scratch_setup, scratch_teardown),
        cmocka_unit_test(nonsense_changes_nothing),
        cmocka_unit_test_setup_teardown(damage_is_noticed, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(power_may_go_off, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(calls_may_fail, scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(many_answers_are_flushed_once, scratch_setup,
                                        scratch_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
