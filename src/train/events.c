/* events.c - event files for TensorBoard. */
#include "train/events.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/protobuf.h"

/* ---- records ---- */

/* CRC-32C, bit by bit: a record has only a hundred bytes or two. */
static uint32_t checksum(const unsigned char *bytes, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

/* The format rotates and offsets its checksums. */
static uint32_t masked(uint32_t crc)
{
    return (crc >> 15 | crc << 17) + 0xa282ead8;
}

static void put(unsigned char *to, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)(value >> 8 * i & 0xff);
}

static imp_status cannot_write(const imp_events *events, imp_error *error)
{
    return imp_fail(error, IMP_EIO, "cannot write '%s': %s", events->path, strerror(errno));
}

static imp_status write_all(const imp_events *events, const unsigned char *bytes, size_t size,
                            imp_error *error)
{
    while (size > 0) {
        ssize_t written = write(events->descriptor, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return cannot_write(events, error);
        bytes += written;
        size -= (size_t)written;
    }
    return IMP_OK;
}

/* Writes the message as a record, in one go, and releases it. */
static imp_status write_record(const imp_events *events, imp_message *event, imp_error *error)
{
    enum { LENGTH = 8, CHECKSUM = 4, LARGEST = 2000 };
    unsigned char record[LENGTH + CHECKSUM + LARGEST + CHECKSUM];
    size_t size = event->size;
    if (event->failed || size > LARGEST) {
        imp_message_clear(event);
        return imp_fail_memory(error, "an event");
    }
    put(record, size, LENGTH);
    put(record + LENGTH, masked(checksum(record, LENGTH)), CHECKSUM);
    memcpy(record + LENGTH + CHECKSUM, event->bytes, size);
    put(record + LENGTH + CHECKSUM + size, masked(checksum(event->bytes, size)), CHECKSUM);
    imp_message_clear(event);
    return write_all(events, record, LENGTH + CHECKSUM + size + CHECKSUM, error);
}

/* ---- messages: tensorflow/core/util/event.proto and framework/summary.proto ---- */

enum {
    EVENT_TIME = 1,
    EVENT_STEP = 2,
    EVENT_VERSION = 3,
    EVENT_SUMMARY = 5,
    EVENT_SESSION = 7,
    SESSION_STATUS = 1,
    SESSION_START = 1,
    SUMMARY_VALUE = 1,
    VALUE_TAG = 1,
    VALUE_NUMBER = 2
};

static imp_message begin_event(uint64_t update)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    imp_message event = {0};
    imp_message_double(&event, EVENT_TIME, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
    imp_message_integer(&event, EVENT_STEP, update);
    return event;
}

static void add_number(imp_message *summary, const char *tag, double number)
{
    if (!isfinite(number))
        return;
    imp_message value = {0};
    imp_message_text(&value, VALUE_TAG, tag);
    imp_message_float(&value, VALUE_NUMBER, (float)number);
    imp_message_nest(summary, SUMMARY_VALUE, &value);
}

imp_status imp_events_write(imp_events *events, const imp_train_line *line, imp_error *error)
{
    imp_message event = begin_event(line->update), summary = {0};
    add_number(&summary, "loss", line->loss);
    add_number(&summary, "accuracy/training", line->accuracy);
    add_number(&summary, "accuracy/validation", line->validation);
    add_number(&summary, "accuracy/validation open", line->validation_open);
    add_number(&summary, "clusters", line->clusters);
    add_number(&summary, "sigma/labelled", line->sigma_l);
    add_number(&summary, "sigma/unlabelled", line->sigma_u);
    add_number(&summary, "optimizer/rate", line->rate);
    add_number(&summary, "optimizer/gradient norm", line->norm);
    add_number(&summary, "images per second", line->images_per_second);
    imp_message_nest(&event, EVENT_SUMMARY, &summary);
    return write_record(events, &event, error);
}

/* ---- the file ---- */

static imp_status begin_file(const imp_events *events, uint64_t update, imp_error *error)
{
    imp_message version = begin_event(0);
    imp_message_text(&version, EVENT_VERSION, "brain.Event:2");
    imp_status status = write_record(events, &version, error);
    if (status || update == 0)
        return status;
    imp_message restart = begin_event(update + 1), session = {0};
    imp_message_integer(&session, SESSION_STATUS, SESSION_START);
    imp_message_nest(&restart, EVENT_SESSION, &session);
    return write_record(events, &restart, error);
}

imp_status imp_events_open(imp_events *events, const char *folder, uint64_t update,
                           imp_error *error)
{
    enum { TRIES = 1000 }; /* runs resumed within the same second */
    events->descriptor = -1;
    for (int i = 0; i < TRIES && events->descriptor < 0; i++) {
        /* files are read in the order of their names */
        snprintf(events->path, sizeof events->path, "%s/events.out.tfevents.%010lld.imp.%03d",
                 folder, (long long)time(NULL), i);
        events->descriptor = open(events->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (events->descriptor < 0 && errno != EEXIST)
            break;
    }
    if (events->descriptor < 0)
        return cannot_write(events, error);
    imp_status status = begin_file(events, update, error);
    if (status)
        imp_events_close(events);
    return status;
}

void imp_events_close(imp_events *events)
{
    if (events->descriptor >= 0)
        close(events->descriptor);
    events->descriptor = -1;
}
