/*
 * page.c - the frame of a page, its style, and what goes into it: texts and pictures.
 */
#include "cli/page.h"

#include <nettle/base64.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "cli/interrupt.h"

/* ---- style ---- */

/* Colours that belong to a group are made of its hue, --h; everything else is gray.
 *
 * Names of pictures often differ in their ends alone. Set from right to left, a line loses its
 * beginning instead; the name in it is a <bdi>, which reads as ever. */
static const char style[] =
    ":root{color-scheme:light dark;--page:#f7f6f3;--card:#fff;--ink:#1c1c1e;--soft:#63636a;"
    "--line:#dfddd8;--group:hsl(var(--h) 58% 40%);--wash:hsl(var(--h) 50% 94%)}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#141416;--card:#1f1f22;--ink:#ececef;"
    "--soft:#a2a2aa;--line:#38383d}}\n"
    "*{box-sizing:border-box}\n"
    "html{scroll-behavior:smooth}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,sans-serif}\n"
    "main{max-width:74rem;margin:auto;padding:2rem clamp(1rem,4vw,2.5rem) 4rem}\n"
    "h1{font-size:clamp(1.6rem,5vw,2.4rem);line-height:1.15;margin:0 0 .5rem}\n"
    "h2{font-size:1.25rem;line-height:1.3;margin:0 0 .75rem;overflow-wrap:anywhere}\n"
    "p{margin:.25rem 0}\n"
    "small,.soft{color:var(--soft);font-size:.85rem;font-weight:400}\n"
    ".doubt{margin:1rem 0;padding-left:.8rem;border-left:4px solid var(--soft);font-weight:600}\n"
    ".doubt::first-letter{text-transform:uppercase}\n"
    "[style*='--h']{--group:hsl(var(--h) 58% 40%);--wash:hsl(var(--h) 45% 93%)}\n"
    "@media(prefers-color-scheme:dark){[style*='--h']{--group:hsl(var(--h) 60% 66%);"
    "--wash:hsl(var(--h) 25% 20%)}}\n"
    ".gray{--group:var(--soft);--wash:var(--line)}\n"
    "nav{display:flex;flex-wrap:wrap;gap:.4rem;margin:1.25rem 0}\n"
    "nav a{padding:.2rem .7rem;border-radius:99rem;background:var(--wash);color:var(--ink);"
    "text-decoration:none;font-size:.9rem;overflow-wrap:anywhere}\n"
    "nav a:hover,nav a:focus{outline:2px solid var(--group)}\n"
    "figure{margin:1.25rem 0}\n"
    "section,.map{background:var(--card);border:1px solid var(--line);border-radius:.9rem;"
    "padding:clamp(.9rem,3vw,1.4rem);margin:1.25rem 0}\n"
    "section{border-top:4px solid var(--group)}\n"
    "figcaption{color:var(--soft);font-size:.85rem;margin-top:.5rem}\n"
    "svg{display:block;width:100%;height:auto}\n"
    "svg text{font:600 13px system-ui,sans-serif;text-anchor:middle;fill:var(--ink);"
    "stroke:var(--card);stroke-width:4px;paint-order:stroke;stroke-linejoin:round;"
    "pointer-events:none}\n"
    "svg .dot{r:6px;fill:var(--group);stroke:var(--card)}\n"
    "svg .ring{r:7px;fill:var(--card);stroke:var(--group);stroke-width:2.5px}\n"
    "svg .cross{fill:none;stroke:var(--group);stroke-width:2.5px;stroke-linecap:round}\n"
    "svg a:hover .ring,svg a:hover .dot,svg a:focus .ring,svg a:focus .dot{stroke:var(--ink);"
    "stroke-width:3px}\n"
    "@media(max-width:40rem){svg text{font-size:26px}svg .dot{r:10px}svg .ring{r:11px;"
    "stroke-width:4px}svg .cross{stroke-width:4px}}\n"
    "ul{list-style:none;margin:0;padding:0}\n"
    "img{display:block;max-width:100%;background:#fff;border-radius:.4rem;object-fit:contain}\n"
    "img.tiny{image-rendering:pixelated}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr));"
    "gap:.8rem}\n"
    ".card{display:flex;gap:.9rem;padding:.7rem;border:1px solid var(--line);"
    "border-radius:.6rem}\n"
    ".card>div{min-width:0;flex:1}\n"
    ".card>img{width:96px;height:96px;flex:none}\n"
    ".name,.pile small{direction:rtl;text-align:left;white-space:nowrap;overflow:hidden;"
    "text-overflow:ellipsis}\n"
    ".name{font-weight:600}\n"
    ".bar{display:grid;grid-template-columns:minmax(0,1fr) 3.4rem;gap:.5rem;align-items:center;"
    "font-size:.85rem;margin:.15rem 0}\n"
    ".bar span{position:relative;padding:.05rem .4rem;border-radius:.25rem;overflow:hidden;"
    "white-space:nowrap;text-overflow:ellipsis;background:linear-gradient(to right,var(--wash) "
    "var(--p),transparent var(--p));border:1px solid var(--line)}\n"
    ".bar b{text-align:right;font-weight:500;font-variant-numeric:tabular-nums}\n"
    ".why{display:flex;gap:.5rem;align-items:center;margin-top:.4rem;color:var(--soft);"
    "font-size:.8rem;line-height:1.3}\n"
    ".why img{width:36px;height:36px;flex:none}\n"
    ".why span{min-width:0;overflow-wrap:anywhere}\n"
    ".clusters{display:flex;flex-wrap:wrap;gap:.5rem 1.4rem;margin:.2rem 0 .9rem}\n"
    ".strip{display:flex;flex-wrap:wrap;gap:.4rem}\n"
    ".strip img{width:44px;height:44px;border:1px solid var(--line)}\n"
    ".strip .guess img{border-style:dashed;opacity:.75}\n"
    ".pile{display:grid;grid-template-columns:repeat(auto-fill,minmax(88px,1fr));gap:.7rem}\n"
    ".pile img{width:100%;height:auto;aspect-ratio:1;border:1px solid var(--line)}\n"
    ".pile .odd img{outline:2px dashed var(--soft);outline-offset:2px}\n"
    ".pile small{display:block;font-size:.75rem}\n"
    ":target{outline:3px solid var(--group);outline-offset:2px;border-radius:.6rem}\n"
    "dl{display:flex;flex-wrap:wrap;gap:.4rem 2rem;margin:.75rem 0}\n"
    "dt{color:var(--soft);font-size:.8rem}\n"
    "dd{margin:0;font-size:1.2rem;font-variant-numeric:tabular-nums}\n"
    "@media print{section{break-inside:avoid}}\n";

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
    char text[2000]; /* a tag or two; long texts are not formatted */
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
    *page = (imp_page){.buffer = imp_allocate(BUFFER, 1)};
    page->status = page->buffer ? imp_writer_open(&page->writer, path, &page->error)
                                : imp_fail_memory(&page->error, "a page");
    put_text(page, "<!DOCTYPE html>\n"
                   "<html lang=\"en\">\n"
                   "<head>\n"
                   "<meta charset=\"utf-8\">\n"
                   "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                   "img-src data:; style-src 'unsafe-inline'\">\n"
                   "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                   "<title>");
    imp_page_text(page, title);
    put_text(page, "</title>\n<style>\n");
    put_text(page, style);
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
    return page->status ? imp_fail(error, page->status, "%s", page->error.message) : IMP_OK;
}

/* ---- pictures ---- */

static void put_base64(imp_page *page, const uint8_t *bytes, size_t size)
{
    enum { CHUNK = 3 * 256 }; /* whole groups, so that chunks join without padding */
    char text[BASE64_ENCODE_RAW_LENGTH(CHUNK)];
    for (size_t first = 0; first < size; first += CHUNK) {
        size_t count = size - first < CHUNK ? size - first : CHUNK;
        base64_encode_raw(text, count, bytes + first);
        put(page, text, BASE64_ENCODE_RAW_LENGTH(count));
    }
}

/* Shrinks the picture, if need be, until both sides are at most `side`. */
static imp_status shrink(imp_image *image, uint32_t side, imp_error *error)
{
    uint32_t longer = image->width > image->height ? image->width : image->height;
    if (longer <= side)
        return IMP_OK;
    uint32_t width = (uint32_t)((uint64_t)image->width * side / longer);
    uint32_t height = (uint32_t)((uint64_t)image->height * side / longer);
    imp_image smaller;
    imp_status status =
        imp_image_resample(image, width ? width : 1, height ? height : 1, &smaller, error);
    if (status)
        return status;
    imp_image_clear(image);
    *image = smaller;
    return IMP_OK;
}

void imp_page_picture(imp_page *page, const imp_gallery *gallery, size_t picture, uint32_t side)
{
    if (!page->status)
        page->status = imp_interrupt_check(&page->error);
    if (page->status)
        return;
    imp_image image;
    uint8_t *bytes = NULL;
    size_t size = 0;
    imp_error *error = &page->error;
    page->status = imp_gallery_open(gallery, picture, &image, error);
    if (!page->status)
        page->status = shrink(&image, side, error);
    if (!page->status)
        page->status = imp_png_encode(&image, &bytes, &size, error);
    const char *path = gallery->pictures[picture].path;
    bool tiny = 2 * image.width <= side && 2 * image.height <= side;
    imp_page_write(page, "<img width=\"%u\" height=\"%u\"%s alt=\"", image.width, image.height,
                   tiny ? " class=\"tiny\"" : "");
    imp_page_text(page, path);
    imp_page_write(page, "\" title=\"");
    imp_page_text(page, path);
    imp_page_write(page, "\" src=\"data:image/png;base64,");
    put_base64(page, bytes, size);
    imp_page_write(page, "\">");
    imp_release(bytes);
    imp_image_clear(&image);
}

const char *imp_page_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int imp_page_hue(size_t group)
{
    /* Steps of the golden angle never come back to where they have been. */
    return (int)(group * 137.508 + 205) % 360;
}
