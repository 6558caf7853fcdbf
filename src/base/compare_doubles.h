/* compare_doubles.h - the order of numbers, for qsort(); none may be NaN. */
#ifndef IMP_BASE_COMPARE_DOUBLES_H
#define IMP_BASE_COMPARE_DOUBLES_H

static inline int imp_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif
