/* mpi_ranks.h - MPI's processes as imp_ranks. */
#ifndef IMP_MPI_MPI_RANKS_H
#define IMP_MPI_MPI_RANKS_H

#include "base/ranks.h"

/* What went over the wire from this rank. */
typedef struct imp_mpi_traffic {
    uint64_t bytes, messages;
} imp_mpi_traffic;

/* All processes of MPI_COMM_WORLD, which must have been initialised; `traffic` counts for them. */
imp_ranks imp_mpi_ranks(imp_mpi_traffic *traffic);

#endif
