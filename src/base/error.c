/*
 * error.c - statuses and their sentences.
 *
 * A sentence is always a terminated string and never ends in half a UTF-8 character, because it
 * often quotes a file name the user chose.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *imp_status_name(imp_status status)
{
    switch (status) {
    case IMP_OK:
        return "IMP_OK";
    case IMP_EINVAL:
        return "IMP_EINVAL";
    case IMP_ENOMEM:
        return "IMP_ENOMEM";
    case IMP_EIO:
        return "IMP_EIO";
    case IMP_EFORMAT:
        return "IMP_EFORMAT";
    case IMP_EUNSUPPORTED:
        return "IMP_EUNSUPPORTED";
    }
    return "unknown status";
}

/* Replaces the end of a text that filled its buffer by "...", on a character boundary. */
static void cut(char *text, size_t room)
{
    size_t end = room - sizeof "...";
    while (end > 0 && ((unsigned char)text[end] & 0xC0u) == 0x80u)
        end--;
    memcpy(text + end, "...", sizeof "...");
}

imp_status imp_fail(imp_error *error, imp_status status, const char *format, ...)
{
    if (error == NULL)
        return status;

    /* Formatted aside, because an argument may be the old message itself. */
    char message[sizeof error->message];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);

    if (length < 0)
        message[0] = '\0';
    else if ((size_t)length >= sizeof message)
        cut(message, sizeof message);

    error->status = status;
    memcpy(error->message, message, strlen(message) + 1);
    return status;
}

imp_status imp_fail_memory(imp_error *error, const char *what)
{
    return imp_fail(error, IMP_ENOMEM, "out of memory for %s", what);
}

imp_status imp_as_format(imp_status status, imp_error *error)
{
    if (status != IMP_EINVAL)
        return status;
    if (error != NULL)
        error->status = IMP_EFORMAT;
    return IMP_EFORMAT;
}

void imp_error_prefix(imp_error *error, const char *prefix)
{
    if (error != NULL)
        imp_fail(error, error->status, "%s: %s", prefix, error->message);
}
