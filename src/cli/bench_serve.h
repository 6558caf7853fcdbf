/* bench_serve.h - `imp bench --serve`: answers the requests of bench/run.py (bench/README.md). */
#ifndef IMP_CLI_BENCH_SERVE_H
#define IMP_CLI_BENCH_SERVE_H

/* Answers lines on standard input until "quit" or end of file; returns the exit status. */
int imp_bench_serve(void);

#endif
