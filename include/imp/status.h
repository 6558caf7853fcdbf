/*
 * status.h - how every function of the library reports what happened.
 *
 * A function that can fail returns an imp_status and takes an imp_error as its last argument.
 * The error may be NULL when the caller does not want the sentence. The library never prints,
 * never exits, and leaves its arguments as they were unless a function says otherwise.
 */
#ifndef IMP_STATUS_H
#define IMP_STATUS_H

#include <imp/export.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum imp_status {
    IMP_OK = 0,
    IMP_EINVAL,      /* an argument is wrong; the sentence says which and what would be right */
    IMP_ENOMEM,      /* memory ran out, or a size does not fit in memory at all */
    IMP_EIO,         /* the operating system refused a read or a write */
    IMP_EFORMAT,     /* a file is not what it claims to be */
    IMP_EUNSUPPORTED /* valid, but not supported by this library or this machine */
} imp_status;

/* One sentence a user can act on: what is wrong, where, and what would be right. */
typedef struct imp_error {
    imp_status status;
    char message[500];
} imp_error;

/* The name of a status, such as "IMP_EINVAL"; "unknown status" for any other value. */
IMP_API const char *imp_status_name(imp_status status);

#ifdef __cplusplus
}
#endif

#endif
