/*
 * Times as commands give them: a number, in seconds or milliseconds, from now or from 1970.
 */
#ifndef STORE_EXPIRY_H
#define STORE_EXPIRY_H

#include "store/call.h"

struct expiry_form {
    bool is_seconds;
    bool is_absolute;
};

/* The form of PX: what is left when nothing else is said. */
#define EXPIRY_PX ((struct expiry_form){false, false})

/* Replies "invalid expire time in 'x' command". */
void reply_expiry_error(struct call *call);
/* Milliseconds since 1970 from argument i, which must be positive, as SET and GETEX want it;
 * replies with the error else. */
bool arg_expiry(struct call *call, uint32_t i, struct expiry_form form, int64_t *ret_expire_ms);
/* Whether a key with this expiry would be gone at once. */
bool expiry_is_over(const struct call *call, int64_t expire_ms);
/* Puts a value that expires then; one that is over already is removed instead. The value must not
 * point into the store. */
void put_expiring(struct call *call, struct slice key, struct slice value, int64_t expire_ms);
/* Gives a found record another expiry (0: none). */
void change_expiry(struct call *call, struct slice key, const struct record *record,
                   int64_t expire_ms);

#endif
