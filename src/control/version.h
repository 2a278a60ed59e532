/*
 * The version of the program, which is that of the library.
 */
#ifndef CONTROL_VERSION_H
#define CONTROL_VERSION_H

#include <clockwise/clockwise.h>

#define VERSION_TEXT_OF(number)          VERSION_TEXT_OF_EXPANDED(number)
#define VERSION_TEXT_OF_EXPANDED(number) #number
#define CLOCKWISE_VERSION                                                                          \
    VERSION_TEXT_OF(CW_VERSION_MAJOR)                                                              \
    "." VERSION_TEXT_OF(CW_VERSION_MINOR) "." VERSION_TEXT_OF(CW_VERSION_PATCH)

#endif
