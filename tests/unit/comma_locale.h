/*
 * comma_locale.h - the locale of a program that writes half as "0,5", which library calls must
 * neither mind nor change.
 */
#ifndef COMMA_LOCALE_H
#define COMMA_LOCALE_H

/* Sets such a locale: one that is installed, or else one made with localedef in the test's scratch
 * folder. The test is skipped, with a line that says why, where neither can be had. */
void comma_locale_enter(void **state);

/* Fails if the locale is another by now, and sets the C locale again. */
void comma_locale_leave(void);

#endif
