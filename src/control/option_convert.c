/*
 * From the text of a value to the value, for each type of option. Whatever is wrong gets a sentence
 * that ends with what would be right.
 */
#include "control/options.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <clockwise/profile.h>

#include "base/suggest.h"
#include "control/address_check.h"
#include "control/config.h"

struct unit {
    const char *name;
    int64_t factor;
};

static const struct unit size_units[] = {
    {"b", 1}, {"kb", 1LL << 10}, {"mb", 1LL << 20}, {"gb", 1LL << 30}, {"tb", 1LL << 40}, {NULL, 0},
};
static const struct unit duration_units[] = {
    {"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {NULL, 0},
};

static bool complain(char *ret_message, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool complain(char *ret_message, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(ret_message, OPTION_MESSAGE_SIZE, format, args);
    va_end(args);
    return false;
}

/* The largest unit in which the number is whole. */
static void format_in_units(int64_t number, const struct unit *units, char *ret_text, size_t size)
{
    const struct unit *best = &units[0];
    for (const struct unit *unit = units; unit->name; unit++)
        if (number != 0 && number % unit->factor == 0)
            best = unit;
    snprintf(ret_text, size, "%" PRId64 "%s", number / best->factor, best->name);
}

void option_format_size(int64_t bytes, char *ret_text, size_t size)
{
    format_in_units(bytes, size_units, ret_text, size);
}

void option_format_duration(int64_t ms, char *ret_text, size_t size)
{
    if (ms == 0)
        snprintf(ret_text, size, "0");
    else
        format_in_units(ms, duration_units, ret_text, size);
}

static void format_number(const struct option *option, int64_t number, char *ret_text, size_t size)
{
    if (option->type == OPTION_SIZE)
        option_format_size(number, ret_text, size);
    else if (option->type == OPTION_DURATION)
        option_format_duration(number, ret_text, size);
    else
        snprintf(ret_text, size, "%" PRId64, number);
}

static bool out_of_range(const struct option *option, const char *text, char *ret_message)
{
    char min[32], max[32];
    format_number(option, option->min, min, sizeof min);
    format_number(option, option->max, max, sizeof max);
    return complain(ret_message, "'%.40s' is out of range; use %s to %s", text, min, max);
}

/* Digits with an optional '-', then whatever follows them. False when there are no digits. Numbers
 * beyond int64 become its ends, which are out of every option's range. */
static bool read_digits(const char *text, int64_t *ret_number, const char **ret_rest)
{
    char *end;
    if (!isdigit((unsigned char)text[text[0] == '-']))
        return false;
    errno = 0;
    *ret_number = strtoll(text, &end, 10);
    *ret_rest = end;
    return true;
}

static bool convert_integer(const struct option *option, const char *text, int64_t *ret_number,
                            char *ret_message)
{
    const char *rest;
    int64_t number;
    if (!read_digits(text, &number, &rest) || *rest)
        return complain(ret_message, "'%.40s' is not a whole number; use %" PRId64 " to %" PRId64,
                        text, option->min, option->max);
    if (number < option->min || number > option->max)
        return out_of_range(option, text, ret_message);
    *ret_number = number;
    return true;
}

static const struct unit *find_unit(const struct unit *units, const char *name)
{
    for (; units->name; units++)
        if (strcasecmp(units->name, name) == 0)
            return units;
    return NULL;
}

static bool missing_unit(const struct option *option, const char *text, char *ret_message)
{
    return complain(ret_message, "'%.40s' has no unit; write %.40sms, %.40ss, %.40sm or %.40sh",
                    text, text, text, text, text);
}

/* A whole number and its unit. The factor 1 stands for a missing unit, where that is allowed. */
static bool convert_with_unit(const struct option *option, const char *text, int64_t *ret_number,
                              char *ret_message)
{
    bool is_size = option->type == OPTION_SIZE;
    const char *names = is_size ? "b, kb, mb, gb or tb" : "ms, s, m or h";
    const char *rest;
    int64_t number;
    if (!read_digits(text, &number, &rest) || *rest == '.' || *rest == ',')
        return complain(ret_message, "'%.40s' is not a whole number with a unit (%s)", text, names);
    const char *unit_name = rest + strspn(rest, " ");
    if (!is_size && *unit_name == 0 && number != 0)
        return missing_unit(option, text, ret_message);
    const struct unit *unit = find_unit(is_size ? size_units : duration_units,
                                        *unit_name ? unit_name : (is_size ? "b" : "ms"));
    if (!unit)
        return complain(ret_message, "'%.40s' has the unknown unit '%.20s'; use %s", text,
                        unit_name, names);
    if (number > INT64_MAX / unit->factor || number < INT64_MIN / unit->factor ||
        number * unit->factor < option->min || number * unit->factor > option->max)
        return out_of_range(option, text, ret_message);
    *ret_number = number * unit->factor;
    return true;
}

/* "a, b or c" */
static void list_choices(const struct option *option, char *ret_text, size_t size)
{
    size_t len = 0;
    ret_text[0] = 0;
    for (const char *const *choice = option->choices; *choice && len < size; choice++) {
        const char *before = choice == option->choices ? "" : choice[1] ? ", " : " or ";
        len += (size_t)snprintf(ret_text + len, size - len, "%s%s", before, *choice);
    }
}

static bool convert_choice(const struct option *option, const char *text, int64_t *ret_number,
                           char *ret_message)
{
    char list[120];
    size_t count = 0;
    for (; option->choices[count]; count++)
        if (strcmp(option->choices[count], text) == 0) {
            *ret_number = (int64_t)count;
            return true;
        }
    const char *nearest = suggest_nearest(text, option->choices, count);
    list_choices(option, list, sizeof list);
    if (nearest)
        return complain(ret_message, "'%.40s' is unknown; did you mean '%s'? (%s)", text, nearest,
                        list);
    return complain(ret_message, "'%.40s' is unknown; use %s", text, list);
}

/* The nearest of the placements and of the profiles. */
static bool unknown_placement(const struct option *option, const char *text, char *ret_message)
{
    enum { PROFILES_MAX = 256 };
    const char *names[PROFILES_MAX];
    char list[120];
    size_t count = 0;
    for (const char *const *choice = option->choices; *choice; choice++)
        names[count++] = *choice;
    for (size_t i = 0; i < cw_profile_count() && count < PROFILES_MAX; i++)
        names[count++] = cw_profile_at(i)->name;
    const char *nearest = suggest_nearest(text, names, count);
    list_choices(option, list, sizeof list);
    if (nearest)
        return complain(ret_message,
                        "'%.40s' is unknown; did you mean '%s'? (%s, or a profile: `clockwise "
                        "profiles`)",
                        text, nearest, list);
    return complain(ret_message,
                    "'%.40s' is unknown; use %s, or a profile (`clockwise profiles` lists them)",
                    text, list);
}

static bool convert_placement(const struct option *option, const char *text, int64_t *ret_number,
                              char *ret_message)
{
    for (size_t i = 0; option->choices[i]; i++)
        if (strcmp(option->choices[i], text) == 0) {
            *ret_number = (int64_t)i;
            return true;
        }
    for (size_t i = 0; i < cw_profile_count(); i++)
        if (strcmp(cw_profile_at(i)->name, text) == 0) {
            *ret_number = CONFIG_PROFILE_FIRST + (int64_t)i;
            return true;
        }
    return unknown_placement(option, text, ret_message);
}

static bool convert_bool(const char *text, int64_t *ret_number, char *ret_message)
{
    static const char *const words[] = {"no", "yes", "false", "true", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(words[i], text) == 0) {
            *ret_number = (int64_t)(i % 2);
            return true;
        }
    return complain(ret_message, "'%.40s' is neither yes nor no", text);
}

static bool convert_text(const struct option *option, const char *text, const char **ret_text,
                         char *ret_message)
{
    size_t len = strlen(text);
    if (len == 0 && option->min > 0)
        return complain(ret_message, "is empty; give it a value or leave it out");
    if (len > (size_t)option->max)
        return complain(ret_message, "is %zu bytes long; use at most %" PRId64, len, option->max);
    bool is_word = option->choices && strcmp(text, option->choices[0]) == 0;
    if (option->type == OPTION_ADDRESS && !is_word &&
        !address_check(text, ret_message, OPTION_MESSAGE_SIZE))
        return false;
    *ret_text = text;
    return true;
}

bool option_convert(const struct option *option, const char *text, struct option_value *ret_value,
                    char ret_message[static OPTION_MESSAGE_SIZE])
{
    switch (option->type) {
    case OPTION_TEXT:
    case OPTION_ADDRESS: return convert_text(option, text, &ret_value->text, ret_message);
    case OPTION_INTEGER: return convert_integer(option, text, &ret_value->number, ret_message);
    case OPTION_SIZE:
    case OPTION_DURATION: return convert_with_unit(option, text, &ret_value->number, ret_message);
    case OPTION_CHOICE: return convert_choice(option, text, &ret_value->number, ret_message);
    case OPTION_PLACEMENT: return convert_placement(option, text, &ret_value->number, ret_message);
    case OPTION_BOOL: return convert_bool(text, &ret_value->number, ret_message);
    }
    return complain(ret_message, "is of no known type");
}
