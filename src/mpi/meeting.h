/*
 * meeting.h - connects every rank with rank 0 by TCP, beside MPI, which does not say when one of
 * them is gone.
 *
 * Rank 0 listens at a port that the system chooses and lets the others know it by MPI, with a
 * random token that tells its ranks from strangers. A connection ends seconds after its other end
 * cannot be reached any more.
 */
#ifndef IMP_MPI_MEETING_H
#define IMP_MPI_MEETING_H

#include <netinet/in.h>
#include <stdint.h>

/* What the ranks have to know to come; plain bytes, to broadcast. */
typedef struct imp_meeting {
    unsigned char token[16];
    uint16_t port; /* 0: rank 0 cannot listen */
    uint16_t count;
    struct in_addr address[16]; /* all that rank 0 has, to try in turn */
} imp_meeting;

/* For rank 0. Returns the socket to accept at, or -1. */
int imp_meeting_open(imp_meeting *meeting);

/* For rank 0, when somebody is waiting: returns the connection with rank *rank, in 1..size-1, or -1
 * if it was none of them. */
int imp_meeting_accept(const imp_meeting *meeting, int listener, int size, int *rank);

/* For the others: returns the connection with rank 0, or -1. Gives up when `wake` can be read. */
int imp_meeting_join(const imp_meeting *meeting, int rank, int wake);

#endif
