/* safetensors_format.h - what reading and writing the safetensors format share. */
#ifndef IMP_BASE_SAFETENSORS_FORMAT_H
#define IMP_BASE_SAFETENSORS_FORMAT_H

#include "base/safetensors.h"

enum {
    IMP_PREAMBLE = 8,             /* bytes that hold the header's length */
    IMP_HEADER_LIMIT = 100000000, /* the cap of the reference implementation */
    IMP_ALIGNMENT = 64,           /* of the data in a file written here, and of repacked tensors */
};

#define IMP_METADATA_KEY "__metadata__"

/* An untrusted name, made safe for a message: not too long, and without control characters that
 * would affect a terminal. */
typedef struct imp_quoted {
    char text[84];
} imp_quoted;

imp_quoted imp_quote(const char *name);

#endif
