/*
 * main.c - the command `imp-mpi`: runs commands of `imp` on all processes started by MPI.
 *
 * Every rank runs the same command. Rank 0 prints and writes. The messages of the others go to a
 * file of their own, and are printed only if rank 0 itself has no error; the rank and its host are
 * then named. A rank that fails while others wait for it ends them all; rank 0 says so by a second
 * sentence. A rank that is lost is named by rank 0, or by rank 1 if it is rank 0 (watch.h).
 */
#define _GNU_SOURCE /* memfd_create */

#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <imp/version.h>

#include "cli/cli.h"
#include "cli/job.h"
#include "kernels/kernels.h"
#include "mpi/mpi_ranks.h"
#include "mpi/watch.h"

/* Seconds that a failed rank waits for the others to fail, too. Rank 0 waits less than the others,
 * so that it speaks for all that failed. */
enum { PATIENCE = 2, PATIENCE_OF_OTHERS = 5 };

/* ---- who is there ---- */

/* What must be equal on all ranks for their results to have the same bits. */
typedef struct identity {
    char host[MPI_MAX_PROCESSOR_NAME];
    char version[32], isa[16];
    uint64_t program, words; /* checksums of the binary and of the command line */
} identity;

/* FNV-1a */
static const uint64_t START = 14695981039346656037u;

static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return sum;
}

/* Of the program's file; 0 if it cannot be read. */
static uint64_t sum_program(void)
{
    FILE *file = fopen("/proc/self/exe", "rb");
    static unsigned char bytes[1 << 16];
    uint64_t sum = START;
    if (!file)
        return 0;
    for (size_t got; (got = fread(bytes, 1, sizeof bytes, file)) > 0;)
        sum = add_bytes(sum, bytes, got);
    fclose(file);
    return sum;
}

/* The words of the command line but the first, the path of the program. */
static uint64_t sum_words(int argc, char **argv)
{
    uint64_t sum = START;
    for (int i = 1; i < argc; i++)
        sum = add_bytes(sum, argv[i], strlen(argv[i]) + 1);
    return sum;
}

static identity identify(int argc, char **argv)
{
    identity self = {.program = sum_program(), .words = sum_words(argc, argv)};
    int length;
    const imp_kernels *kernels;
    imp_error error;
    MPI_Get_processor_name(self.host, &length);
    snprintf(self.version, sizeof self.version, "%s", imp_version());
    if (imp_kernels_choose(&kernels, &error) == IMP_OK)
        snprintf(self.isa, sizeof self.isa, "%s", kernels->name);
    return self;
}

/* Whether all ranks compute alike; rank 0 reports which does not. */
static int check_identities(const identity *all, const imp_ranks *ranks)
{
    for (int r = 1; r < ranks->size; r++) {
        bool other_isa = strcmp(all[r].isa, all[0].isa) != 0;
        bool other_program =
            all[r].program != all[0].program || strcmp(all[r].version, all[0].version) != 0;
        if (!other_isa && !other_program && all[r].words == all[0].words)
            continue;
        if (ranks->rank == 0 && other_isa)
            imp_complain(0, NULL,
                         "rank %d on %s uses %s but rank 0 on %s uses %s, so bits would differ; "
                         "set IMP_ISA to an instruction set that all support",
                         r, all[r].host, all[r].isa, all[0].host, all[0].isa);
        else if (ranks->rank == 0 && !other_program)
            imp_complain(0, NULL,
                         "rank %d on %s was given other words than rank 0 on %s; all ranks need "
                         "the same command line",
                         r, all[r].host, all[0].host);
        else if (ranks->rank == 0)
            imp_complain(0, NULL,
                         "rank %d on %s runs a different imp-mpi (%s) than rank 0 on %s (%s), so "
                         "bits would differ; install the same one everywhere",
                         r, all[r].host, all[r].version, all[0].host, all[0].version);
        return IMP_EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}

/* The names in `all`, or NULL. */
static const char **list_hosts(const identity *all, int count)
{
    const char **hosts = calloc((size_t)count, sizeof *hosts);
    for (int r = 0; hosts && r < count; r++)
        hosts[r] = all[r].host;
    return hosts;
}

/* ---- messages of the other ranks ---- */

/* Discards standard output and redirects standard error to an unnamed file. Returns the old
 * standard error. */
static int silence(int *said)
{
    int before = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    *said = memfd_create("imp-mpi", MFD_CLOEXEC);
    if (nowhere >= 0)
        dup2(nowhere, STDOUT_FILENO);
    if (*said >= 0)
        dup2(*said, STDERR_FILENO);
    return before;
}

/* Prints the last line of a rank's messages, with its rank and host. */
static void speak(int to, int said, const char *host, int rank)
{
    char text[4096] = "";
    off_t size = lseek(said, 0, SEEK_END);
    off_t from = size > (off_t)sizeof text - 1 ? size - (off_t)sizeof text + 1 : 0;
    ssize_t got = pread(said, text, sizeof text - 1, from);
    text[got > 0 ? got : 0] = '\0';
    while (got > 0 && text[got - 1] == '\n')
        text[--got] = '\0';
    const char *line = strrchr(text, '\n');
    dprintf(to, "%s (rank %d on %s)\n",
            line      ? line + 1
            : text[0] ? text
                      : "imp-mpi: failed",
            rank, host);
}

/* ---- the end ---- */

static bool wait_for(MPI_Request *request, double seconds)
{
    double end = MPI_Wtime() + seconds;
    int done = 0;
    while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done && MPI_Wtime() < end)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return done;
}

/* All ranks exchange their exit statuses. A failed rank does not wait long for the others, which
 * may be waiting for it. Returns rank 0's status, or the first that is not 0. */
static int conclude(int status, const imp_ranks *ranks, bool *together)
{
    int *all = calloc((size_t)ranks->size, sizeof *all);
    MPI_Request request;
    *together = all && MPI_Iallgather(&status, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD,
                                      &request) == MPI_SUCCESS;
    if (*together && status != EXIT_SUCCESS)
        *together = wait_for(&request, ranks->rank == 0 ? PATIENCE : PATIENCE_OF_OTHERS);
    else if (*together)
        *together = MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (!*together)
        return status; /* `all` is not freed, because MPI may still write to it */
    int first = all[0];
    for (int r = 1; r < ranks->size && first == EXIT_SUCCESS; r++)
        first = all[r];
    bool said = all[0] != EXIT_SUCCESS;
    if (said && ranks->rank > 0)
        status = EXIT_SUCCESS; /* it says the same as rank 0 */
    free(all);
    return status != EXIT_SUCCESS ? status : ranks->rank > 0 ? EXIT_SUCCESS : first;
}

/* IMP_MPI_TRAFFIC=1: prints how many bytes all ranks have sent. */
static void tell_traffic(const imp_mpi_traffic *own, const imp_ranks *ranks)
{
    uint64_t mine[2] = {own->bytes, own->messages}, all[2] = {0};
    const char *wanted = getenv("IMP_MPI_TRAFFIC");
    if (!wanted || strcmp(wanted, "1") != 0)
        return;
    MPI_Reduce(mine, all, 2, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (ranks->rank == 0)
        fprintf(stderr, "imp-mpi: %llu bytes in %llu messages\n", (unsigned long long)all[0],
                (unsigned long long)all[1]);
}

/* ---- the command ---- */

/* Commands that distribute their work; the others would only repeat it on every rank. */
static int check_command(int argc, char **argv)
{
    static const char *const shared[] = {"train", "eval", "cluster", "predict", "embed", "paper"};
    if (argc < 2 || argv[1][0] == '-')
        return EXIT_SUCCESS;
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if (strcmp(argv[1], shared[i]) == 0)
            return EXIT_SUCCESS;
    return imp_complain(IMP_EXIT_USAGE, NULL,
                        "'%s' cannot run on several processes; imp-mpi has train, eval, cluster, "
                        "predict, embed and paper; use imp for the rest",
                        argv[1]);
}

int main(int argc, char **argv)
{
    int provided, said = -1, before = STDERR_FILENO;
    imp_job_fill_closed_streams();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    imp_mpi_traffic traffic = {0};
    const imp_ranks ranks = imp_mpi_ranks(&traffic);
    identity self = identify(argc, argv), *all = calloc((size_t)ranks.size, sizeof *all);
    int status = IMP_EXIT_FAILURE;
    if (ranks.rank > 0)
        before = silence(&said);
    if (!all || MPI_Allgather(&self, sizeof self, MPI_BYTE, all, sizeof self, MPI_BYTE,
                              MPI_COMM_WORLD) != MPI_SUCCESS)
        imp_complain(status, NULL, "the ranks cannot identify themselves to each other");
    else if ((status = check_identities(all, &ranks)) == EXIT_SUCCESS)
        status = check_command(argc, argv);
    const char **hosts = NULL;
    imp_watch *watch = NULL;
    if (status == EXIT_SUCCESS) {
        hosts = list_hosts(all, ranks.size);
        watch = imp_watch_begin(&ranks, hosts, before);
        imp_job_begin(&ranks);
        status = imp_job_run(argc, argv);
    }
    bool together;
    fflush(NULL);
    int own = status;
    status = conclude(status, &ranks, &together);
    bool lost = imp_watch_end(watch);
    if (ranks.rank > 0 && own != EXIT_SUCCESS && !lost && (!together || status != EXIT_SUCCESS))
        speak(before, said, self.host, ranks.rank);
    if (!together && ranks.rank == 0 && !lost) /* which has told why */
        fprintf(stderr, "imp-mpi: rank 0 on %s failed while others went on, and ends the job\n",
                self.host);
    if (!together)
        MPI_Abort(MPI_COMM_WORLD, status);
    free(hosts);
    free(all);
    tell_traffic(&traffic, &ranks);
    MPI_Finalize();
    return status;
}
