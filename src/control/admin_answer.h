/*
 * What a page of the admin address answers: a text, its type, and how it went. Refusals of the
 * pages that change something are JSON, {"error": …, "remedy": …}.
 */
#ifndef CONTROL_ADMIN_ANSWER_H
#define CONTROL_ADMIN_ANSWER_H

#include <jansson.h>

#include "base/buffer.h"

struct answer {
    unsigned code; /* of HTTP */
    const char *type;
    struct buffer body;
};

extern const char answer_type_text[], answer_type_json[];

/* A line of text in place of all that was there. */
void answer_say(struct answer *answer, unsigned code, const char *text);
/* A refusal as JSON. The remedy may be "". */
void answer_refuse(struct answer *answer, unsigned code, const char *error, const char *remedy);
/* The same from a sentence "what is wrong; what to do". */
void answer_refuse_sentence(struct answer *answer, unsigned code, const char *sentence);
/* Takes the reference to `root`; NULL says that memory is out. */
void answer_json(struct answer *answer, unsigned code, json_t *root);

/* The HTTP code that fits a negative errno of the mover; 500 for one that was not thought of. */
unsigned answer_code_of(int status);

#endif
