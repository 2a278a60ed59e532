#include "control/admin_answer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char answer_type_text[] = "text/plain; charset=utf-8";
const char answer_type_json[] = "application/json";

void answer_say(struct answer *answer, unsigned code, const char *text)
{
    answer->code = code;
    answer->type = answer_type_text;
    buffer_clear(&answer->body);
    buffer_printf(&answer->body, "%s\n", text);
}

void answer_json(struct answer *answer, unsigned code, json_t *root)
{
    char *text = root ? json_dumps(root, JSON_INDENT(2)) : NULL;
    json_decref(root);
    answer->code = code;
    answer->type = answer_type_json;
    buffer_clear(&answer->body);
    if (!text || !buffer_append_text(&answer->body, text) ||
        !buffer_append_text(&answer->body, "\n")) {
        answer->code = 503;
        buffer_clear(&answer->body);
        buffer_append_text(&answer->body, "{\"error\": \"out of memory\", \"remedy\": \"\"}\n");
    }
    free(text);
}

/* What was typed or read may be no UTF-8, of which JSON consists. */
static json_t *any_text(const char *text, size_t len)
{
    json_t *string = json_stringn(text, len);
    return string ? string : json_string("(text that is no UTF-8)");
}

static void refuse(struct answer *answer, unsigned code, json_t *error, json_t *remedy)
{
    answer_json(answer, code, json_pack("{s:o, s:o}", "error", error, "remedy", remedy));
}

void answer_refuse(struct answer *answer, unsigned code, const char *error, const char *remedy)
{
    refuse(answer, code, any_text(error, strlen(error)), any_text(remedy, strlen(remedy)));
}

void answer_refuse_sentence(struct answer *answer, unsigned code, const char *sentence)
{
    const char *end = strstr(sentence, "; ");
    const char *remedy = end ? end + 2 : "";
    size_t len = end ? (size_t)(end - sentence) : strlen(sentence);
    refuse(answer, code, any_text(sentence, len), any_text(remedy, strlen(remedy)));
}

unsigned answer_code_of(int status)
{
    static const struct {
        int error;
        unsigned code;
    } codes[] = {
        {EINVAL, 422},    {ENOENT, 404},  {EBUSY, 409},  {EPERM, 409},
        {EALREADY, 409},  {ESTALE, 412},  {ENOMEM, 503}, {ECANCELED, 503},
        {ETIMEDOUT, 504}, {ENOTSUP, 501}, {ENOSPC, 507}, {EIO, 502},
    };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (status == -codes[i].error)
            return codes[i].code;
    return status < 0 ? 500 : 200;
}
