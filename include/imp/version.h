/* version.h - which imp this is: the header's numbers at compile time, the library's at run time.
 */
#ifndef IMP_VERSION_H
#define IMP_VERSION_H

#include <imp/export.h>

#ifdef __cplusplus
extern "C" {
#endif

#define IMP_VERSION_MAJOR 0
#define IMP_VERSION_MINOR 2
#define IMP_VERSION_PATCH 0
#define IMP_VERSION_STRING "0.2.0"
#define IMP_VERSION_DATE "2026-11-18" /* of the release, or of the latest change towards it */

/* The version of the library that the program runs with, such as "0.2.0". */
IMP_API const char *imp_version(void);

#ifdef __cplusplus
}
#endif

#endif
