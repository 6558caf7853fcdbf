/* interrupt.c - turns the first Ctrl-C into a flag. */
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

#include "base/error.h"

static volatile sig_atomic_t interrupted;

static void note(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
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
    return imp_interrupted() ? imp_fail(error, IMP_EIO, "interrupted; nothing half made is left")
                             : IMP_OK;
}
