/*
 * options.h - the options of a command as a table, and the one parser that reads them.
 *
 * A table is plain data, because the usage text, the man pages and the shell completions are
 * generated from it, too. An option knows which member of the command's settings it sets, and its
 * default value as a user would type it, so defaults are stated once.
 *
 *     typedef struct settings { int64_t batch, seed; bool json; } settings;
 *
 *     static const imp_option options[] = {
 *         {IMP_OPTION_HEADING("Work")},
 *         {IMP_OPTION_INTEGER(settings, batch), .name = "batch", .argument = "N",
 *          .integers = {1, 4096}, .initial = "120", .help = "images per step"},
 *         {IMP_OPTION_REST},
 *         {IMP_OPTION_INTEGER(settings, seed), ...},
 *         {IMP_OPTION_HEADING("Output")},
 *         {IMP_OPTION_FLAG(settings, json), .name = "json", .help = "write JSON"},
 *         {IMP_OPTION_END}};
 *
 * --help must fit on a screen: it leaves out the options between IMP_OPTION_REST and the next
 * heading, and the ranges of numbers. --help-all and the man pages have everything.
 */
#ifndef IMP_CLI_OPTIONS_H
#define IMP_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <imp/method.h>

typedef enum imp_option_kind {
    IMP_KIND_END, /* ends a table */
    IMP_KIND_HEADING,
    IMP_KIND_REST,    /* --help leaves out the options from here to the next heading */
    IMP_KIND_FLAG,    /* bool: false until given */
    IMP_KIND_INTEGER, /* int64_t */
    IMP_KIND_NUMBER,  /* double */
    IMP_KIND_TEXT,    /* const char *: points into argv or at the default */
    IMP_KIND_TEXTS,   /* imp_texts: all values given; no default */
    IMP_KIND_CHOICE,  /* int: index into the choices */

    /* Rows that stand for what methods and learners describe; imp_option_next() expands them. */
    IMP_KIND_METHOD,     /* const char *: a method's name */
    IMP_KIND_RULE,       /* imp_rule: an option per parameter */
    IMP_KIND_OWN,        /* imp_named_value[IMP_MOST_OWN_OPTIONS]: methods' own options */
    IMP_KIND_LEARNER,    /* likewise: a learner's name */
    IMP_KIND_LEARNER_OWN /* likewise: learners' own options */
} imp_option_kind;

/* The values of an option that may be given several times. */
enum { IMP_MOST_TEXTS = 8 };

typedef struct imp_texts {
    const char *items[IMP_MOST_TEXTS]; /* they point into argv */
    size_t count;
} imp_texts;

typedef struct imp_option {
    imp_option_kind kind;
    size_t offset;        /* offset of the member in the command's settings */
    const char *name;     /* without the dashes */
    char letter;          /* the letter of a short form, 'o' for -o; 0 if there is none */
    const char *argument; /* placeholder of the value: "N", "FILE"; NULL for a flag */
    const char *help;     /* a phrase in lower case without a full stop; or the heading */
    const char *initial;  /* the default; NULL leaves the member as it was */
    /* The default that the help states if the parser sets none; for a heading, the default of all
     * options below it. */
    const char *otherwise;
    bool once; /* a string without a default that may be given only once: a user who gives two means
                  both */
    bool unsupervised; /* for a method: only those that need no labels */
    const char *like;  /* for a number: the parameter of a rule that has the same range */
    const imp_option_info
        *info; /* in the rows of imp_option_next(): the values, if `numbers` does not say it */
    union {
        struct {
            int64_t least, most; /* INT64_MAX: no upper limit */
        } integers;
        struct {
            double least, most; /* INFINITY: no upper limit */
        } numbers;
        const char *const *choices; /* ends with NULL */
    };
} imp_option;

/* offsetof() that compiles only if the member has the type that the kind of option sets. */
#define IMP_OPTION_MEMBER(settings, member, type) \
    (offsetof(settings, member) + 0 * sizeof(_Generic(((settings *)0)->member, type : 0)))

/* The beginning of a row: what kind it is and, for an option, which member it sets. */
#define IMP_OPTION_FLAG(settings, member) \
    .kind = IMP_KIND_FLAG, .offset = IMP_OPTION_MEMBER(settings, member, bool)
#define IMP_OPTION_INTEGER(settings, member) \
    .kind = IMP_KIND_INTEGER, .offset = IMP_OPTION_MEMBER(settings, member, int64_t)
#define IMP_OPTION_NUMBER(settings, member) \
    .kind = IMP_KIND_NUMBER, .offset = IMP_OPTION_MEMBER(settings, member, double)
#define IMP_OPTION_TEXT(settings, member) \
    .kind = IMP_KIND_TEXT, .offset = IMP_OPTION_MEMBER(settings, member, const char *)
#define IMP_OPTION_TEXTS(settings, member) \
    .kind = IMP_KIND_TEXTS, .offset = IMP_OPTION_MEMBER(settings, member, imp_texts)
#define IMP_OPTION_CHOICE(settings, member) \
    .kind = IMP_KIND_CHOICE, .offset = IMP_OPTION_MEMBER(settings, member, int)
#define IMP_OPTION_METHOD(settings, member) \
    .kind = IMP_KIND_METHOD, .offset = IMP_OPTION_MEMBER(settings, member, const char *)
#define IMP_OPTION_RULE(settings, member) \
    .kind = IMP_KIND_RULE, .offset = IMP_OPTION_MEMBER(settings, member, imp_rule)
#define IMP_OPTION_LEARNER(settings, member) \
    .kind = IMP_KIND_LEARNER, .offset = IMP_OPTION_MEMBER(settings, member, const char *)
#define IMP_OPTION_LEARNER_OWN(settings, member) \
    .kind = IMP_KIND_LEARNER_OWN, .offset = IMP_OPTION_MEMBER(settings, member, imp_named_value *)
#define IMP_OPTION_OWN(settings, member) \
    .kind = IMP_KIND_OWN, .offset = IMP_OPTION_MEMBER(settings, member, imp_named_value *)
#define IMP_OPTION_HEADING(text) .kind = IMP_KIND_HEADING, .help = (text)
#define IMP_OPTION_REST .kind = IMP_KIND_REST
#define IMP_OPTION_END .kind = IMP_KIND_END

/* An action of a command, named by its first operand: `info` in `imp data info`. */
typedef struct imp_action {
    const char *name;
    const char *operands; /* after the name: "DATA FILE" */
    int count;            /* their number */
    const char *summary;  /* a phrase in lower case without a full stop */
} imp_action;

/* A command as its user sees it. */
typedef struct imp_usage {
    const char *command;         /* "bench" */
    const char *summary;         /* one line that begins with a verb, without a full stop */
    const char *details;         /* sentences for the man page; NULL if there is nothing to add */
    const char *operands;        /* "MODEL IMAGE...", or NULL if there are none */
    int fewest, most;            /* operands; INT_MAX: no upper limit */
    const imp_action *actions;   /* instead of operands; ends with a NULL name; NULL: none */
    const imp_option *options;   /* ends with IMP_OPTION_END */
    const char *const *examples; /* at least two complete command lines; ends with NULL */
} imp_usage;

enum {
    IMP_GO_ON = -1,       /* not an exit status: the command line was understood */
    IMP_EXIT_FAILURE = 1, /* the work could not be done */
    IMP_EXIT_USAGE = 2    /* the command line was wrong */
};

/* Parses a command line; argv[0] is the command's name and is ignored.
 *
 * Sets the members of `settings`, a zeroed struct of the table's type: first to the defaults, then
 * from the command line. Options are --name value or --name=value, or the same with -n, and may
 * stand between operands; "--" ends them. If an option is repeated, the last one counts, unless it
 * may be given only once or collects its values. The operands are moved to argv[1] ..
 * argv[*operands]; if the command has actions, argv[1] is one of them, followed by its operands.
 *
 * Returns IMP_GO_ON, or the status to exit with at once: 0 after --help or --help-all,
 * IMP_EXIT_USAGE after an error on stderr. */
int imp_parse(const imp_usage *usage, int argc, char **argv, void *settings, int *operands);

/* The index of the action of that name, or -1. */
int imp_action_find(const imp_usage *usage, const char *name);

/* ---- what is generated from a table ---- */

/* An iteration over the rows of a command's table. A row that stands for what methods or learners
 * describe is replaced by an option for each, valid until the next step.
 *
 *     imp_option_walk walk = {.usage = usage};
 *     for (const imp_option *option; (option = imp_option_next(&walk));) */
typedef struct imp_option_walk {
    const imp_usage *usage;
    size_t row, owner, index;
    imp_option made;
    char help[1000];
} imp_option_walk;

/* The next row, or NULL after the last. */
const imp_option *imp_option_next(imp_option_walk *walk);

/* How much of a table is shown. */
typedef enum imp_detail {
    IMP_DETAIL_SCREEN, /* --help: the most common options, on one screen */
    IMP_DETAIL_ALL     /* --help-all */
} imp_detail;

/* Prints what --help or --help-all prints, at most 80 columns wide. */
void imp_usage_print(const imp_usage *usage, imp_detail detail, FILE *stream);

/* Writes which values an option accepts, e.g. "an integer from 1 to 4096", truncated to fit. */
void imp_option_describe(const imp_option *option, char *text, size_t size);

/* Writes an option's help, its values and its default, "images per step (an integer from 1 to 4096;
 * default 120)", truncated to fit. `heading` is the one above it, or NULL. */
void imp_option_explain(const imp_option *option, const imp_option *heading, imp_detail detail,
                        char *text, size_t size);

/* Prints untrusted text, such as a file name, with '?' for each control character: it must neither
 * break a line nor control the terminal. */
void imp_print_text(const char *text, FILE *stream);

/* The same for a word to be pasted into a shell: quoted if necessary. */
void imp_print_word(const char *word, FILE *stream);

/* Prints "imp COMMAND: SENTENCE" (or "imp: SENTENCE" if command is NULL) on stderr, like
 * imp_print_text(), and returns `status`, so that a failing command ends in `return
 * imp_complain(...)`. */
int imp_complain(int status, const char *command, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
