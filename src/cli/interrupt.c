/* interrupt.c - turns the first Ctrl-C into a message or a flag. */
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

static volatile sig_atomic_t interrupted;

/* Formatted in advance: a signal handler may write, but not format. */
static char sentence[100];

static void tell(int signal_number)
{
    ssize_t written = write(STDERR_FILENO, sentence, strlen(sentence));
    (void)written; /* there is nowhere else to report it */
    raise(signal_number);
}

static void note(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

void imp_interrupt_tell(const char *command)
{
    /* On a terminal there may be a line of progress. */
    snprintf(sentence, sizeof sentence, "%simp %s: interrupted\n",
             isatty(STDERR_FILENO) == 1 ? "\n" : "", command);
    struct sigaction action = {.sa_handler = tell, .sa_flags = (int)SA_RESETHAND | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    const int signals[] = {SIGINT, SIGTERM};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction before;
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
    }
}

void imp_interrupt_catch(void)
{
    struct sigaction action = {.sa_handler = note, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool imp_interrupted(void)
{
    return interrupted != 0;
}

imp_status imp_interrupt_check(imp_error *error)
{
    return imp_interrupted()
               ? imp_fail(error, IMP_EIO, "interrupted; nothing unfinished is left behind")
               : IMP_OK;
}
