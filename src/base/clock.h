/* clock.h - a clock that only goes forward, for measuring how long something takes. */
#ifndef IMP_BASE_CLOCK_H
#define IMP_BASE_CLOCK_H

/* Seconds since some moment in the past. */
double imp_clock(void);

#endif
