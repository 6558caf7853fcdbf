/*
 * options.h - the options of a command as a table, and the one parser that reads them.
 *
 * A table is plain data, because more than the parser reads it: the usage text, the man pages and
 * the completions of shells are made from it. An option knows the member of the command's settings
 * that it sets and its default value, written as a user would type it; so defaults are stated once.
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
 * --help is to fit on a screen: it leaves out what stands between IMP_OPTION_REST and the next
 * heading, and what numbers are allowed. --help-all and the man pages tell everything.
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
    IMP_KIND_REST,    /* the options up to the next heading are left out of --help */
    IMP_KIND_FLAG,    /* bool: false until given */
    IMP_KIND_INTEGER, /* int64_t */
    IMP_KIND_NUMBER,  /* double */
    IMP_KIND_TEXT,    /* const char *: points into argv or at the default */
    IMP_KIND_TEXTS,   /* imp_texts: all that were given; it has no default */
    IMP_KIND_CHOICE,  /* int: index into the choices */

    /* Rows that stand for what methods and learners say of themselves; imp_option_next() tells it.
     */
    IMP_KIND_METHOD, /* const char *: the name of one */
    IMP_KIND_RULE,   /* imp_rule: an option for each of its numbers */
    IMP_KIND_OWN,    /* imp_named_value[IMP_MOST_OWN_OPTIONS]: one for each that a method has of its
                        own */
    IMP_KIND_LEARNER,    /* the same of learners: the name of one, */
    IMP_KIND_LEARNER_OWN /* and their own options */
} imp_option_kind;

/* What an option that may be given several times was given. */
enum { IMP_MOST_TEXTS = 8 };

typedef struct imp_texts {
    const char *items[IMP_MOST_TEXTS]; /* they point into argv */
    size_t count;
} imp_texts;

typedef struct imp_option {
    imp_option_kind kind;
    size_t offset;        /* of the member in the command's settings */
    const char *name;     /* without the dashes */
    char letter;          /* of the short form -o of --output; 0 where there is none */
    const char *argument; /* what the usage calls the value: "N", "FILE"; NULL for a flag */
    const char *help;     /* a phrase, begun in lower case, no full stop; or the heading */
    const char *initial;  /* the default; NULL leaves the member as it was */
    /* What the help tells as the default where the parser sets none; of a heading: the default of
     * all options below it. */
    const char *otherwise;
    bool once; /* a text without a default, refused a second time: whoever says two means both */
    bool unsupervised;           /* of a method: only those that need no labels */
    const char *like;            /* of a number: the name of that of a rule which takes the same */
    const imp_option_info *info; /* what values there are, in the rows of imp_option_next(), where
                                  * `numbers` do not say it */
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

/* One of the things that a command does, named by its first operand: `info` of `imp data info`. */
typedef struct imp_action {
    const char *name;
    const char *operands; /* behind the name: "DATA FILE" */
    int count;            /* how many they are */
    const char *summary;  /* a phrase, begun in lower case, no full stop */
} imp_action;

/* A command as its user sees it. */
typedef struct imp_usage {
    const char *command;       /* "bench" */
    const char *summary;       /* one line that begins with a verb, no full stop */
    const char *details;       /* for the man page: sentences; NULL where there is no more to say */
    const char *operands;      /* "MODEL IMAGE...", or NULL where there are none */
    int fewest, most;          /* operands; INT_MAX: no upper limit */
    const imp_action *actions; /* instead of operands; ends with a NULL name; NULL: none */
    const imp_option *options; /* ends with IMP_OPTION_END */
    const char *const *examples; /* at least two whole command lines, ends with NULL */
} imp_usage;

enum {
    IMP_GO_ON = -1,       /* not an exit status: the command line was understood */
    IMP_EXIT_FAILURE = 1, /* the work could not be done */
    IMP_EXIT_USAGE = 2    /* the command line was wrong */
};

/* Parses a command line; argv[0] is the command's name and is not looked at.
 *
 * Sets the members of `settings`, a zeroed struct of the type the table was made for: first to the
 * defaults, then as the command line says. Options are --name value or --name=value, or the same
 * with -n, and may stand between operands; "--" ends them. The last word on an option counts,
 * unless it is one to be given once or one that takes several. The operands are moved to argv[1] ..
 * argv[*operands]; where the command has actions, argv[1] is one of them and the others are as many
 * as it takes.
 *
 * Returns IMP_GO_ON, or the status to exit with at once: 0 after --help or --help-all has printed
 * the usage, IMP_EXIT_USAGE after a sentence on stderr. */
int imp_parse(const imp_usage *usage, int argc, char **argv, void *settings, int *operands);

/* The number of the action of that name, or -1. */
int imp_action_find(const imp_usage *usage, const char *name);

/* ---- what is made from a table ---- */

/* A walk along the rows of a command's table. Where a row stands for what the methods say, there is
 * an option for each in its place, which is good until the next step.
 *
 *     imp_option_walk walk = {.usage = usage};
 *     for (const imp_option *option; (option = imp_option_next(&walk));)
 */
typedef struct imp_option_walk {
    const imp_usage *usage;
    size_t row, owner, index;
    imp_option made;
    char help[400];
} imp_option_walk;

/* The next row, or NULL after the last. */
const imp_option *imp_option_next(imp_option_walk *walk);

/* How much of a table is told. */
typedef enum imp_detail {
    IMP_DETAIL_SCREEN, /* --help: what most people need, on a screen */
    IMP_DETAIL_ALL     /* --help-all */
} imp_detail;

/* Prints what --help or --help-all prints, at most 80 columns wide. */
void imp_usage_print(const imp_usage *usage, imp_detail detail, FILE *stream);

/* Writes what values an option takes, e.g. "an integer from 1 to 4096", cut to fit. */
void imp_option_describe(const imp_option *option, char *text, size_t size);

/* Writes what the option is for, the values it takes and its default, "images per step (an integer
 * from 1 to 4096; default 120)", cut to fit. `heading` is the one above it, or NULL. */
void imp_option_explain(const imp_option *option, const imp_option *heading, imp_detail detail,
                        char *text, size_t size);

/* Prints a text from outside, such as the name of a file, with '?' for each control character: it
 * must neither break a line nor tell a terminal what to do. */
void imp_print_text(const char *text, FILE *stream);

/* The same of a word that is to be pasted into a shell: in quotes if it needs them. */
void imp_print_word(const char *word, FILE *stream);

/* Prints "imp COMMAND: SENTENCE" (or "imp: SENTENCE" when command is NULL) on stderr, as
 * imp_print_text() does, and returns `status`, so that a failing command ends in `return
 * imp_complain(...)`. */
int imp_complain(int status, const char *command, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
