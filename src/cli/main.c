/* main.c - the command `imp`. */
#include "cli/job.h"

int main(int argc, char **argv)
{
    return imp_job_run(argc, argv);
}
