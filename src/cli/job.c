/*
 * job.c - finds the command named by the first word and hands it the rest.
 *
 * Exit status: 0 on success, 1 on failure, 2 if the command line was wrong, 130 if interrupted.
 */
#include "cli/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <imp/version.h>
#include <imp/work.h>

#include "base/suggest.h"
#include "cli/cli.h"
#include "cli/interrupt.h"
#include "kernels/kernels.h"

static const imp_ranks *all_ranks; /* set once, before anything is run */

const imp_ranks *imp_job_ranks(void)
{
    return all_ranks;
}

void imp_job_begin(const imp_ranks *ranks)
{
    all_ranks = ranks;
}

bool imp_job_writes(void)
{
    return imp_rank_of(all_ranks) == 0;
}

static int complain_option(const char *word)
{
    imp_suggestion suggestion = imp_suggestion_start(word);
    imp_suggestion_offer(&suggestion, "--help");
    imp_suggestion_offer(&suggestion, "--version");
    if (suggestion.nearest)
        return imp_complain(IMP_EXIT_USAGE, NULL, "unknown option '%s'; did you mean '%s'?", word,
                            suggestion.nearest);
    return imp_complain(IMP_EXIT_USAGE, NULL,
                        "unknown option '%s'; only --help and --version may come before a command",
                        word);
}

/* One line before work that takes long; Ctrl-C ends it as it ends everything. */
static bool tell_work(const imp_work *work, void *context)
{
    imp_complain(EXIT_SUCCESS, context, "%s", work->sentence);
    return true;
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        imp_commands_print(stderr);
        return IMP_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        printf("imp %s\n", imp_version());
        return EXIT_SUCCESS;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        imp_commands_print(stdout);
        return EXIT_SUCCESS;
    }
    if (word[0] == '-')
        return complain_option(word);

    const imp_command *command = imp_command_find(word);
    if (!command)
        return IMP_EXIT_USAGE;
    /* Even if nothing is computed: a user who misspells it would believe it took effect. */
    const imp_kernels *kernels;
    imp_error error;
    if (imp_kernels_choose(&kernels, &error))
        return imp_complain(IMP_EXIT_FAILURE, command->usage->command, "%s", error.message);
    imp_interrupt_tell(command->usage->command);
    if (imp_job_writes())
        imp_notice_work(tell_work, (void *)command->usage->command);
    return command->run(argc - 1, argv + 1);
}

void imp_job_fill_closed_streams(void)
{
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0 &&
            open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}

int imp_job_run(int argc, char **argv)
{
    imp_job_fill_closed_streams();
    signal(SIGXFSZ, SIG_IGN); /* a file that is too large is a failed write, which cleans up */
    int status = run(argc, argv);

    /* A full disk shows only when the last output is flushed. */
    errno = 0;
    if (fflush(stdout) != 0 || ferror(stdout)) {
        imp_complain(IMP_EXIT_FAILURE, NULL, "cannot write to standard output: %s",
                     errno ? strerror(errno) : "an earlier write failed");
        if (status == EXIT_SUCCESS)
            status = IMP_EXIT_FAILURE;
    }
    return status;
}
