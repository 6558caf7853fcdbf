/*
 * page.c - the frame of a page, and escaped text and pictures in it.
 */
#include "cli/page.h"

#include <ctype.h>
#include <nettle/base64.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cli/interrupt.h"

/* ---- writing ---- */

enum { BUFFER = 1 << 16 };

static void flush(imp_page *page)
{
    if (!page->status && page->used > 0)
        page->status = imp_writer_write(&page->writer, page->buffer, page->used, &page->error);
    page->used = 0;
}

static void put(imp_page *page, const char *bytes, size_t size)
{
    while (!page->status && size > 0) {
        size_t room = BUFFER - page->used, part = size < room ? size : room;
        memcpy(page->buffer + page->used, bytes, part);
        page->used += part;
        bytes += part;
        size -= part;
        if (page->used == BUFFER)
            flush(page);
    }
}

static void put_text(imp_page *page, const char *text)
{
    put(page, text, strlen(text));
}

void imp_page_write(imp_page *page, const char *format, ...)
{
    char text[2000]; /* a tag or two; long text is not formatted */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_text(page, text);
}

void imp_page_text(imp_page *page, const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */
    while (*text) {
        size_t size = imp_utf8_size(text);
        unsigned char letter = (unsigned char)*text;
        if (letter == '&')
            put_text(page, "&amp;");
        else if (letter == '<')
            put_text(page, "&lt;");
        else if (letter == '>')
            put_text(page, "&gt;");
        else if (letter == '"')
            put_text(page, "&quot;");
        else if (letter == '\'')
            put_text(page, "&#39;");
        else if (size == 0 || letter < 0x20 || letter == 0x7F)
            put_text(page, replacement);
        else
            put(page, text, size);
        text += size > 0 ? size : 1;
    }
}

void imp_page_doubt(imp_page *page, const char *sentence)
{
    if (!sentence)
        return;
    put_text(page, "<p class=\"doubt\">");
    imp_page_text(page, sentence);
    put_text(page, "</p>\n");
}

void imp_page_begin(imp_page *page, const char *path, const char *title)
{
    imp_page_begin_live(page, path, title, 0);
}

void imp_page_begin_live(imp_page *page, const char *path, const char *title, int seconds)
{
    *page = (imp_page){.buffer = imp_allocate(BUFFER, 1)};
    page->status = page->buffer ? imp_writer_open(&page->writer, path, &page->error)
                                : imp_fail_memory(&page->error, "a page");
    put_text(page, "<!DOCTYPE html>\n"
                   "<html lang=\"en\">\n"
                   "<head>\n"
                   "<meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "img-src data:; style-src 'unsafe-inline'\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    if (seconds > 0)
        imp_page_write(page, "<meta http-equiv=\"refresh\" content=\"%d\">\n", seconds);
    put_text(page, "<title>");
    imp_page_text(page, title);
    put_text(page, "</title>\n<style>\n");
    put_text(page, imp_page_style);
    put_text(page, "</style>\n</head>\n<body>\n<main>\n<h1>");
    imp_page_text(page, title);
    put_text(page, "</h1>\n");
}

imp_status imp_page_end(imp_page *page, imp_error *error)
{
    put_text(page, "</main>\n</body>\n</html>\n");
    flush(page);
    if (!page->status)
        page->status = imp_writer_commit(&page->writer, &page->error);
    else
        imp_writer_abandon(&page->writer);
    imp_release(page->buffer);
    imp_thumbnails_clear(&page->ahead);
    return page->status ? imp_fail(error, page->status, "%s", page->error.message) : IMP_OK;
}

/* ---- pictures ---- */

static void put_base64(imp_page *page, const uint8_t *bytes, size_t size)
{
    enum { CHUNK = 3 * 256 }; /* a multiple of 3 bytes, so that chunks join without padding */
    char text[BASE64_ENCODE_RAW_LENGTH(CHUNK)];
    for (size_t first = 0; first < size; first += CHUNK) {
        size_t count = size - first < CHUNK ? size - first : CHUNK;
        base64_encode_raw(text, count, bytes + first);
        put(page, text, BASE64_ENCODE_RAW_LENGTH(count));
    }
}

/* A file that is not a picture: its beginning, if it is text. */
static void write_beginning(imp_page *page, const imp_gallery *gallery, size_t file)
{
    enum { LENGTH = 160 };
    uint8_t *bytes;
    size_t size;
    page->status = imp_gallery_bytes(gallery, file, &bytes, &size, &page->error);
    if (page->status)
        return;
    char text[LENGTH + 1] = "";
    bool cut = size > LENGTH;
    if (memchr(bytes, 0, cut ? LENGTH : size) == NULL)
        snprintf(text, sizeof text, "%.*s", (int)(cut ? LENGTH : size), (const char *)bytes);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < 0x20)
            *at = ' ';
    while (cut && text[0] && (text[strlen(text) - 1] & 0xC0) == 0x80)
        text[strlen(text) - 1] = '\0'; /* a character that may have been truncated */
    imp_page_write(page, "<q title=\"");
    imp_page_text(page, gallery->pictures[file].path);
    imp_page_write(page, "\">");
    imp_page_text(page, text[0] ? text : imp_page_name(gallery->pictures[file].path));
    imp_page_write(page, "%s</q>", cut && text[0] ? "…" : "");
    imp_release(bytes);
}

static void write_image(imp_page *page, const imp_thumbnail *small)
{
    const char *path = small->of.gallery->pictures[small->of.picture].path;
    bool tiny = 2 * small->width <= small->of.side && 2 * small->height <= small->of.side;
    imp_page_write(page, "<img width=\"%u\" height=\"%u\" loading=\"lazy\"%s alt=\"", small->width,
                   small->height, tiny ? " class=\"tiny\"" : "");
    imp_page_text(page, path);
    imp_page_write(page, "\" title=\"");
    imp_page_text(page, path);
    imp_page_write(page, "\" src=\"data:image/%s;base64,", small->kind);
    put_base64(page, small->bytes, small->size);
    imp_page_write(page, "\">");
}

void imp_page_ahead(imp_page *page, const imp_thumbnail_of *wanted, size_t count)
{
    if (!page->status)
        page->status = imp_thumbnails_make(&page->ahead, wanted, count, &page->error);
}

void imp_page_picture(imp_page *page, const imp_gallery *gallery, size_t picture, uint32_t side)
{
    if (!page->status)
        page->status = imp_interrupt_check(&page->error);
    if (page->status)
        return;
    imp_thumbnail own = {.of = {gallery, picture, side}};
    imp_thumbnail *small = imp_thumbnails_take(&page->ahead, own.of);
    if (!small) {
        small = &own;
        imp_thumbnail_make(small);
    }
    bool no_picture = small->status == IMP_EFORMAT || small->status == IMP_EUNSUPPORTED;
    if (gallery->any && no_picture) {
        write_beginning(page, gallery, picture);
    } else if (small->status) {
        page->status = imp_fail(&page->error, small->status, "%s", small->error.message);
    } else {
        write_image(page, small);
    }
    imp_thumbnail_clear(&own);
}

void imp_page_svg(imp_page *page, const uint8_t *bytes, size_t size, const char *alternative)
{
    imp_page_write(page, "<img class=\"chart\" alt=\"");
    imp_page_text(page, alternative);
    imp_page_write(page, "\" src=\"data:image/svg+xml;base64,");
    put_base64(page, bytes, size);
    imp_page_write(page, "\">\n");
}

const char *imp_page_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

imp_tint imp_page_tint(size_t group)
{
    /* Twelve hues, each far from the previous one, then again darker and lighter. */
    enum { HUES = 12, STEP = 150, FIRST = 205 };
    static const int tones[] = {0, -1, 1};
    imp_tint tint;
    snprintf(tint.text, sizeof tint.text, "--h:%d;--t:%d",
             (int)((group % HUES * STEP + FIRST) % 360), tones[group / HUES % 3]);
    return tint;
}

/* ---- several pages ---- */

imp_page_path imp_page_number(const char *path, size_t number)
{
    imp_page_path other;
    size_t length = strlen(path);
    const char *dot = strrchr(imp_page_name(path), '.');
    size_t stem = dot && dot != imp_page_name(path) ? (size_t)(dot - path) : length;
    int written = number == 0 ? snprintf(other.text, sizeof other.text, "%s", path)
                              : snprintf(other.text, sizeof other.text, "%.*s-%zu%s", (int)stem,
                                         path, number + 1, path + stem);
    if (written < 0 || (size_t)written >= sizeof other.text)
        other.text[0] = '\0';
    return other;
}

imp_page_path imp_page_link(const char *path, size_t from, size_t to)
{
    imp_page_path link = {""}, other = imp_page_number(path, to);
    if (from == to)
        return link;
    /* Escapes everything in a name that has a meaning in an address, such as "?" or a scheme. */
    size_t used = (size_t)snprintf(link.text, sizeof link.text, "./");
    for (const char *at = imp_page_name(other.text); *at && used + 4 < sizeof link.text; at++)
        used +=
            (size_t)snprintf(link.text + used, sizeof link.text - used,
                             isalnum((unsigned char)*at) || strchr("-._~", *at) ? "%c" : "%%%02X",
                             (unsigned char)*at);
    return link;
}

void imp_page_pager(imp_page *page, const char *path, size_t number, size_t pages)
{
    if (pages < 2)
        return;
    imp_page_write(page, "<nav class=\"pager\" aria-label=\"Pages\">");
    for (size_t i = 0; i < pages; i++) {
        imp_page_path other = imp_page_link(path, number, i);
        imp_page_write(page, "<a%s href=\"", i == number ? " aria-current=\"page\"" : "");
        put_text(page, i == number ? "#" : other.text);
        imp_page_write(page, "\">%zu</a>\n", i + 1);
    }
    imp_page_write(page, "</nav>\n");
}

/* ---- names ---- */

imp_short_name imp_page_short(const char *text, size_t most)
{
    imp_short_name name;
    size_t length = imp_utf8_length(text), head = (most - 1) / 2, tail = most - 1 - head;
    bool cut = length > most;
    size_t used = 0, at = 0;
    while (*text) {
        size_t size = imp_utf8_size(text);
        size = size > 0 ? size : 1;
        bool kept = !cut || at < head || at >= length - tail;
        const char *from = cut && at == head ? "…" : text;
        size_t bytes = cut && at == head ? strlen(from) : kept ? size : 0;
        if (used + bytes >= sizeof name.text)
            break;
        memcpy(name.text + used, from, bytes);
        used += bytes;
        text += size;
        at++;
    }
    name.text[used] = '\0';
    return name;
}
