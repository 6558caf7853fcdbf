/* export.h - marks what the shared library exports; everything else is hidden. */
#ifndef IMP_EXPORT_H
#define IMP_EXPORT_H

#if defined(__GNUC__) || defined(__clang__)
#define IMP_API __attribute__((visibility("default")))
#else
#define IMP_API
#endif

#endif
