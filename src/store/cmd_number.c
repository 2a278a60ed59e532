/* Numbers in strings: INCR and its kind. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/handlers.h"

/* Puts the text of a number in place of a record, whose expiry stays. */
static void put_number_text(struct call *call, const struct record *old, const char *text, int len)
{
    keyspace_put(call->keyspace, arg(call, 1), (struct slice){text, (size_t)len}, old->expire_ms);
}

/* ---- integers -------------------------------------------------------------------------------- */

static void add(struct call *call, int64_t amount)
{
    struct record old = {0};
    int64_t number = 0;
    char text[24];
    int found = keyspace_find(call->keyspace, arg(call, 1), &old);
    if (found < 0)
        return;
    if (found && !resp_parse_integer(old.value, &number)) {
        reply_error(call, "ERR value is not an integer or out of range");
        return;
    }
    if (__builtin_add_overflow(number, amount, &number)) {
        reply_error(call, "ERR increment or decrement would overflow");
        return;
    }
    put_number_text(call, &old, text, snprintf(text, sizeof text, "%" PRId64, number));
    reply_integer(call, number);
}

void cmd_incr(struct call *call)
{
    add(call, 1);
}

void cmd_decr(struct call *call)
{
    add(call, -1);
}

void cmd_incrby(struct call *call)
{
    int64_t amount;
    if (arg_integer(call, 2, &amount))
        add(call, amount);
}

void cmd_decrby(struct call *call)
{
    int64_t amount;
    if (!arg_integer(call, 2, &amount))
        return;
    if (amount == INT64_MIN)
        reply_error(call, "ERR decrement would overflow");
    else
        add(call, -amount);
}

/* ---- floating point -------------------------------------------------------------------------- */

/* Longer than any long double in "%.17Lf", which has up to 4933 digits before the point. */
enum { FLOAT_LEN_MAX = 5 * 1024 };

/* As Redis reads one: all of the text, no blank in front, not a NaN. */
static bool parse_float(struct slice text, long double *ret_number)
{
    char copy[FLOAT_LEN_MAX], *end;
    if (text.len == 0 || text.len >= sizeof copy)
        return false;
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    errno = 0;
    long double number = strtold(copy, &end);
    bool is_out = errno == ERANGE && (isinf(number) || fpclassify(number) == FP_ZERO);
    if (isspace((unsigned char)copy[0]) || end != copy + text.len || is_out || isnan(number))
        return false;
    *ret_number = number;
    return true;
}

/* "%.17Lf" without zeros at the end: 17 digits give back most short decimals as they came. */
static int print_float(char text[static FLOAT_LEN_MAX], long double number)
{
    int len = snprintf(text, FLOAT_LEN_MAX, "%.17Lf", number);
    while (text[len - 1] == '0')
        len--;
    if (text[len - 1] == '.')
        len--;
    if (len == 2 && text[0] == '-' && text[1] == '0') {
        text[0] = '0';
        len = 1;
    }
    return len;
}

void cmd_incrbyfloat(struct call *call)
{
    struct record old = {0};
    long double number = 0, amount;
    char text[FLOAT_LEN_MAX];
    int found = keyspace_find(call->keyspace, arg(call, 1), &old);
    if (found < 0)
        return;
    if ((found && !parse_float(old.value, &number)) || !parse_float(arg(call, 2), &amount)) {
        reply_error(call, "ERR value is not a valid float");
        return;
    }
    number += amount;
    if (isnan(number) || isinf(number)) {
        reply_error(call, "ERR increment would produce NaN or Infinity");
        return;
    }
    int len = print_float(text, number);
    put_number_text(call, &old, text, len);
    reply_bulk(call, (struct slice){text, (size_t)len});
}
