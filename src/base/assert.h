/*
 * Assertions for programmer errors, always compiled in. Never on bytes from the network or a file:
 * those get an error.
 */
#ifndef BASE_ASSERT_H
#define BASE_ASSERT_H

#define CW_ASSERT(condition)                                                                       \
    (__builtin_expect(!!(condition), 1) ? (void)0                                                  \
                                        : assert_failed(#condition, __FILE__, __LINE__, __func__))

/* Prints where and what on standard error and aborts. */
_Noreturn void assert_failed(const char *condition, const char *file, int line, const char *func);

#endif
