/* progress.c - draws the progress line. */
#include "cli/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

imp_progress_line imp_progress_start(bool quiet)
{
    const char *kind = getenv("TERM");
    bool capable = !kind || strcmp(kind, "dumb") != 0;
    return (imp_progress_line){.quiet = quiet, .terminal = isatty(STDERR_FILENO) && capable};
}

bool imp_progress_due(const imp_progress_line *line, bool keep)
{
    if (line->quiet)
        return false;
    return line->terminal ? keep || imp_clock() - line->last >= 0.1 : keep;
}

/* The width of the terminal; a wrapped line could not be redrawn. */
static size_t terminal_width(void)
{
    struct winsize size;
    bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col : 80;
}

void imp_progress_show(imp_progress_line *line, size_t done, size_t total, bool keep,
                       const char *text)
{
    if (!imp_progress_due(line, keep))
        return;
    if (!line->terminal) {
        fprintf(stderr, "%zu/%zu  %s\n", done, total, text);
        return;
    }
    enum { WIDTH = 20 };
    char whole[600];
    size_t full = total > 0 ? done * WIDTH / total : 0;
    whole[0] = '[';
    for (size_t i = 0; i < WIDTH; i++)
        whole[1 + i] = i < full ? '#' : '.';
    snprintf(whole + 1 + WIDTH, sizeof whole - 1 - WIDTH, "] %zu/%zu  %s", done, total, text);
    /* The last column stays free: some terminals wrap when it is written to. */
    fprintf(stderr, "\r%.*s\033[K", (int)terminal_width() - 1, whole);
    fflush(stderr);
    line->drawn = true;
    line->last = imp_clock();
}

void imp_progress_end(imp_progress_line *line)
{
    if (line->drawn)
        fputs("\r\033[K", stderr);
    line->drawn = false;
}

imp_duration imp_duration_of(double seconds)
{
    imp_duration duration;
    if (!(seconds >= 0 && seconds < 1e9)) {
        snprintf(duration.text, sizeof duration.text, "?");
        return duration;
    }
    long whole = lround(seconds);
    if (whole >= 3600)
        snprintf(duration.text, sizeof duration.text, "%ld:%02ld:%02ld", whole / 3600,
                 whole / 60 % 60, whole % 60);
    else
        snprintf(duration.text, sizeof duration.text, "%ld:%02ld", whole / 60, whole % 60);
    return duration;
}

/* ---- passes over points ---- */

enum { SOON = 5 }; /* seconds without progress output */

imp_pass_line imp_pass_start(void)
{
    return (imp_pass_line){.line = imp_progress_start(false), .begin = imp_clock()};
}

void imp_pass_show(imp_pass_line *own, size_t pass, size_t passes, size_t done, size_t points,
                   const char *more)
{
    double now = imp_clock();
    if (pass != own->pass) {
        own->pass = pass;
        own->pass_begin = now;
    }
    bool ends = done == points && now - own->pass_begin > SOON;
    if (now - own->begin <= SOON || !imp_progress_due(&own->line, ends))
        return;
    char text[200], of[40] = "";
    if (passes > 0)
        snprintf(of, sizeof of, " of %zu", passes);
    double left = (now - own->pass_begin) / (double)done * (double)(points - done);
    snprintf(text, sizeof text, "points in pass %zu%s%s, %s left of the pass", pass, of, more,
             imp_duration_of(left).text);
    imp_progress_show(&own->line, done, points, ends, text);
}
