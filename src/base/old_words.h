/*
 * old_words.h - names of earlier versions that files and scripts may still use.
 */
#ifndef IMP_BASE_OLD_WORDS_H
#define IMP_BASE_OLD_WORDS_H

/* The current name of a choice formerly called `word`, or NULL: "alphabets" is now "super-classes".
 */
const char *imp_choice_now(const char *word);

/* The same for an option: "kind" is now "task". */
const char *imp_option_now(const char *name);

#endif
