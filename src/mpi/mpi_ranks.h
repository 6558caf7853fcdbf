/* mpi_ranks.h - MPI's processes as imp_ranks. */
#ifndef IMP_MPI_MPI_RANKS_H
#define IMP_MPI_MPI_RANKS_H

#include "base/ranks.h"

/* What this rank has sent. */
typedef struct imp_mpi_traffic {
    uint64_t bytes, messages;
} imp_mpi_traffic;

/* All processes of MPI_COMM_WORLD; MPI must be initialised. Counts what this rank sends in
 * `traffic`. */
imp_ranks imp_mpi_ranks(imp_mpi_traffic *traffic);

#endif
