#include "cli/import_lua.h"

#include <ctype.h>
#include <string.h>

enum { VARIABLES_SIZE = 4096, NAME_SIZE = 256 }; /* a power of two: open addressing */

enum token { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN };

struct variable {
    const char *name;
    struct lua_value *value;
};

struct parser {
    struct import *import;
    lua_call_fn *on_call;
    void *user;
    const char *at;
    unsigned line;
    bool has_failed;
    unsigned depth;
    /* The token that is looked at. */
    enum token token;
    unsigned token_line;
    const char *text; /* of a name, number or string */
    char sign;
    struct variable variables[VARIABLES_SIZE];
    size_t variable_count;
};

static struct lua_value *parse_value(struct parser *parser, const char *name);

/* ---- tokens ---------------------------------------------------------------------------------- */

static void step(struct parser *parser, size_t count)
{
    for (; count > 0 && *parser->at; count--)
        parser->line += *parser->at++ == '\n';
}

static void fail(struct parser *parser, unsigned line, const char *text)
{
    import_remark(parser->import, IMPORT_WRONG, line, NULL, "%s", text);
    parser->has_failed = true;
}

/* The length of "[[", "[=[" and so on at a place; 0 where there is none. */
static size_t long_open_len(const char *at)
{
    if (at[0] != '[')
        return 0;
    size_t equals = strspn(at + 1, "=");
    return at[1 + equals] == '[' && equals < 16 ? equals + 2 : 0;
}

/* The text between long brackets, which are stepped over; NULL after a remark. */
static const char *take_long(struct parser *parser)
{
    char close[20];
    size_t len = long_open_len(parser->at);
    unsigned line = parser->line;
    memset(close, '=', len);
    close[0] = close[len - 1] = ']';
    close[len] = 0;
    const char *start = parser->at + len, *end = strstr(start, close);
    if (!end) {
        fail(parser, line, "a long bracket without its end; close it");
        return NULL;
    }
    step(parser, (size_t)(end - parser->at) + len);
    return import_text_of(parser->import, start, (size_t)(end - start));
}

static void skip_blanks(struct parser *parser)
{
    while (*parser->at && !parser->has_failed) {
        if (isspace((unsigned char)*parser->at)) {
            step(parser, 1);
        } else if (parser->at[0] != '-' || parser->at[1] != '-') {
            return;
        } else {
            step(parser, 2);
            if (long_open_len(parser->at))
                take_long(parser);
            else
                step(parser, strcspn(parser->at, "\n"));
        }
    }
}

/* Escapes that stand for one character are taken for it; others stay as they are. */
static const char *take_quoted(struct parser *parser)
{
    char quote = *parser->at;
    size_t len = 1, used = 0;
    while (parser->at[len] && parser->at[len] != quote && parser->at[len] != '\n')
        len += parser->at[len] == '\\' && parser->at[len + 1] ? 2 : 1;
    if (parser->at[len] != quote) {
        fail(parser, parser->line, "a string without its end; close it");
        return NULL;
    }
    char *copy = import_alloc(parser->import, len);
    if (!copy)
        return NULL;
    for (size_t i = 1; i < len; i++) {
        if (parser->at[i] == '\\' && strchr("\\\"'", parser->at[i + 1]))
            i++;
        copy[used++] = parser->at[i];
    }
    step(parser, len + 1);
    return copy;
}

static bool is_name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static void take_word(struct parser *parser)
{
    bool is_number = isdigit((unsigned char)*parser->at);
    size_t len = 0;
    while (is_name_char(parser->at[len]) || (is_number && parser->at[len] == '.'))
        len++;
    parser->token = is_number ? TOKEN_NUMBER : TOKEN_NAME;
    parser->text = import_text_of(parser->import, parser->at, len);
    step(parser, len);
}

static void next(struct parser *parser)
{
    skip_blanks(parser);
    parser->token_line = parser->line;
    parser->token = TOKEN_END;
    parser->sign = 0;
    parser->text = "";
    if (parser->has_failed || parser->import->no_memory || !*parser->at)
        return;
    if (is_name_char(*parser->at)) {
        take_word(parser);
    } else if (*parser->at == '"' || *parser->at == '\'' || long_open_len(parser->at)) {
        const char *text = *parser->at == '[' ? take_long(parser) : take_quoted(parser);
        parser->token = text ? TOKEN_STRING : TOKEN_END;
        parser->text = text ? text : "";
    } else {
        parser->token = TOKEN_SIGN;
        parser->sign = *parser->at;
        step(parser, 1);
    }
}

static bool is_sign(const struct parser *parser, char sign)
{
    return parser->token == TOKEN_SIGN && parser->sign == sign;
}

/* ---- variables ------------------------------------------------------------------------------- */

/* Where a variable stands, or would; NULL when there is no room for one more. */
static struct variable *find_variable(struct parser *parser, const char *name)
{
    size_t at = cw_hash(name, strlen(name)) % VARIABLES_SIZE;
    while (parser->variables[at].name && strcmp(parser->variables[at].name, name) != 0)
        at = (at + 1) % VARIABLES_SIZE;
    bool is_full = parser->variable_count >= VARIABLES_SIZE / 2;
    return parser->variables[at].name || !is_full ? &parser->variables[at] : NULL;
}

static void set_variable(struct parser *parser, const char *name, struct lua_value *value)
{
    struct variable *variable = find_variable(parser, name);
    if (!variable)
        return;
    parser->variable_count += !variable->name;
    *variable = (struct variable){name, value};
}

/* ---- values ---------------------------------------------------------------------------------- */

static struct lua_value *make(struct parser *parser, enum lua_kind kind, const char *text)
{
    struct lua_value *value = import_alloc(parser->import, sizeof *value);
    if (!value) {
        parser->has_failed = true;
        return NULL;
    }
    *value = (struct lua_value){.kind = kind, .line = parser->token_line, .text = text};
    return value;
}

static void append(struct parser *parser, struct lua_value *list, const char *key,
                   struct lua_value *value)
{
    struct lua_entry *entry = import_alloc(parser->import, sizeof *entry);
    if (!entry)
        return;
    *entry = (struct lua_entry){key, value, NULL};
    if (list->last)
        list->last->next = entry;
    else
        list->first = entry;
    list->last = entry;
}

/* "[key]" of a table; NULL where it is no string. */
static const char *parse_bracket_key(struct parser *parser)
{
    next(parser);
    const struct lua_value *key = parse_value(parser, "");
    if (is_sign(parser, ']'))
        next(parser);
    return key && key->kind == LUA_STRING ? key->text : "";
}

/* One entry of a table or one argument. A name is a key if a single '=' follows. */
static void parse_entry(struct parser *parser, struct lua_value *list)
{
    const char *key = NULL;
    struct lua_value *value;
    if (is_sign(parser, '[')) {
        key = parse_bracket_key(parser);
    } else if (parser->token == TOKEN_NAME) {
        skip_blanks(parser);
        if (parser->at[0] == '=' && parser->at[1] != '=') {
            key = parser->text;
            next(parser);
        }
    }
    if (key && is_sign(parser, '='))
        next(parser);
    value = parse_value(parser, key ? key : "");
    if (value)
        append(parser, list, key, value);
}

/* What stands behind an opening sign, up to its closing one. What is no literal among it is stepped
 * over, and makes the entry that it stands in unknown. */
static void parse_list(struct parser *parser, struct lua_value *list, char close)
{
    next(parser);
    while (parser->token != TOKEN_END && !is_sign(parser, close)) {
        const char *before = parser->at;
        if (is_sign(parser, ',') || is_sign(parser, ';')) {
            next(parser);
            continue;
        }
        parse_entry(parser, list);
        if (parser->token != TOKEN_END && !is_sign(parser, close) && !is_sign(parser, ',') &&
            !is_sign(parser, ';') && list->last)
            list->last->value = make(parser, LUA_UNKNOWN, "");
        if (parser->at == before && parser->token != TOKEN_END)
            next(parser);
    }
    next(parser);
}

static struct lua_value *parse_table(struct parser *parser)
{
    struct lua_value *table = make(parser, LUA_TABLE, "");
    if (table)
        parse_list(parser, table, '}');
    return table;
}

/* name.name.name */
static const char *parse_path(struct parser *parser)
{
    char path[NAME_SIZE];
    size_t len = 0;
    path[0] = 0;
    for (;;) {
        size_t more = strlen(parser->text);
        if (len + more + 2 > sizeof path)
            return "";
        memcpy(path + len, parser->text, more + 1);
        len += more;
        next(parser);
        if (!is_sign(parser, '.') || !is_name_char(*parser->at))
            return import_text(parser->import, path);
        path[len++] = '.';
        next(parser);
    }
}

static struct lua_value *parse_call(struct parser *parser, struct lua_value *call)
{
    call->kind = LUA_CALL;
    if (is_sign(parser, '(')) {
        parse_list(parser, call, ')');
    } else {
        struct lua_value *only = parse_value(parser, "");
        if (only)
            append(parser, call, NULL, only);
    }
    return call;
}

static bool opens_call(const struct parser *parser)
{
    return is_sign(parser, '(') || is_sign(parser, '{') || parser->token == TOKEN_STRING;
}

/* A name: what it was given above, a call, or the name itself. */
static struct lua_value *parse_name(struct parser *parser, const char *name)
{
    struct lua_value *value = make(parser, LUA_WORD, parser->text);
    if (!value)
        return NULL;
    value->text = parse_path(parser);
    if (opens_call(parser)) {
        value = parse_call(parser, value);
        parser->on_call(parser->user, name, value);
        return value;
    }
    const struct variable *variable = find_variable(parser, value->text);
    return variable && variable->value ? variable->value : value;
}

static struct lua_value *parse_value(struct parser *parser, const char *name)
{
    struct lua_value *value = NULL;
    if (parser->depth == LUA_DEPTH_MAX) {
        fail(parser, parser->token_line, "tables or calls are nested more than 32 deep");
        return NULL;
    }
    parser->depth++;
    if (parser->token == TOKEN_NAME) {
        value = parse_name(parser, name);
    } else if (is_sign(parser, '{')) {
        value = parse_table(parser);
    } else if (parser->token == TOKEN_STRING || parser->token == TOKEN_NUMBER) {
        value = make(parser, parser->token == TOKEN_STRING ? LUA_STRING : LUA_WORD, parser->text);
        next(parser);
    } else if (parser->token != TOKEN_END) {
        value = make(parser, LUA_UNKNOWN, "");
        next(parser);
    }
    parser->depth--;
    return value;
}

/* ---- statements ------------------------------------------------------------------------------ */

/* What stands behind a value and makes it another one. */
static bool is_operator(const struct parser *parser)
{
    if (parser->token == TOKEN_NAME)
        return strcmp(parser->text, "or") == 0 || strcmp(parser->text, "and") == 0;
    return parser->token == TOKEN_SIGN && strchr(".+-*/%^#<>~=&|[:", parser->sign);
}

/* A table that is filled by statements is no literal any more. */
static void spoil(struct parser *parser, const char *path)
{
    const char *root = import_text_of(parser->import, path, strcspn(path, "."));
    const struct variable *variable = find_variable(parser, root);
    if (variable && variable->value)
        variable->value->kind = LUA_UNKNOWN;
}

/* "path = value": a variable, or a field of one. */
static void parse_assignment(struct parser *parser, const char *path)
{
    const char *dot = strrchr(path, '.');
    next(parser);
    struct lua_value *value = parse_value(parser, dot ? dot + 1 : path);
    if (dot)
        spoil(parser, path);
    else
        set_variable(parser, path, is_operator(parser) ? NULL : value);
}

static void parse_call_statement(struct parser *parser, const char *path)
{
    struct lua_value *call = make(parser, LUA_CALL, path);
    if (!call)
        return;
    parse_call(parser, call);
    if (strcmp(path, "table.insert") == 0 && call->first && call->first->value)
        call->first->value->kind = LUA_UNKNOWN;
    parser->on_call(parser->user, "", call);
}

/* What begins with a name: an assignment, a call, or a word of the language, which is passed over.
 */
static void parse_statement(struct parser *parser)
{
    const char *path = parse_path(parser);
    if (is_sign(parser, '=') && *parser->at != '=')
        parse_assignment(parser, path);
    else if (opens_call(parser))
        parse_call_statement(parser, path);
    else if (is_sign(parser, '['))
        spoil(parser, path);
}

void lua_read(struct import *import, lua_call_fn *on_call, void *user)
{
    struct parser *parser = import_alloc(import, sizeof *parser);
    if (!parser)
        return;
    *parser = (struct parser){
        .import = import, .on_call = on_call, .user = user, .at = import->text, .line = 1};
    next(parser);
    while (parser->token != TOKEN_END) {
        if (parser->token == TOKEN_NAME)
            parse_statement(parser);
        else
            next(parser);
    }
}

/* ---- looking at values ----------------------------------------------------------------------- */

const struct lua_value *lua_find(const struct lua_value *table, const char *key)
{
    if (!table || table->kind != LUA_TABLE)
        return NULL;
    for (const struct lua_entry *entry = table->first; entry; entry = entry->next)
        if (entry->key && strcmp(entry->key, key) == 0)
            return entry->value;
    return NULL;
}

const char *lua_text(const struct lua_value *value)
{
    return value && (value->kind == LUA_STRING || value->kind == LUA_WORD) ? value->text : "";
}
