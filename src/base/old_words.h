/*
 * old_words.h - words of earlier versions that files and scripts may still say.
 */
#ifndef IMP_BASE_OLD_WORDS_H
#define IMP_BASE_OLD_WORDS_H

/* What a choice that was called `word` is called now, or NULL: "alphabets" is "super-classes". */
const char *imp_choice_now(const char *word);

/* The same of an option: "kind" is "task". */
const char *imp_option_now(const char *name);

#endif
