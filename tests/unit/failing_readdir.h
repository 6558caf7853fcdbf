/*
 * failing_readdir.h - a disk that cannot tell any more what is in its folders.
 *
 * The unit tests have a readdir() of their own, which is the system's until it is told to fail.
 */
#ifndef FAILING_READDIR_H
#define FAILING_READDIR_H

/* Makes the n-th call from now on, counted from 1, and those behind it fail with EIO; 0 ends it. */
void failing_readdir_set(unsigned n);

#endif
