/*
 * The table of all configuration keys (options.def), as data: what each is called, which values it
 * takes, and how a text becomes one. Everything that a person reads about the configuration is
 * printed from here. Constant, so usable from any thread.
 */
#ifndef CONTROL_OPTIONS_H
#define CONTROL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum section_id {
#define SECTION(id, ...) SECTION_##id,
#include "control/options.def"
    SECTION_COUNT
};

enum section_shape {
    SHAPE_MAP,   /* a map of options */
    SHAPE_NAMED, /* a map from a name to a map of options */
    SHAPE_LIST,  /* a list of maps of options */
};

struct section {
    enum section_id id, parent; /* the top is its own parent */
    const char *key;
    enum section_shape shape;
    const char *help;
};

enum option_type {
    OPTION_TEXT,     /* const char * */
    OPTION_ADDRESS,  /* const char *: host:port, [v6]:port, unix:/path */
    OPTION_INTEGER,  /* int64_t, and so are all below */
    OPTION_SIZE,     /* bytes; b kb mb gb tb, by 1024; a bare number is bytes */
    OPTION_DURATION, /* milliseconds; ms s m h; only 0 may go without a unit */
    OPTION_CHOICE,   /* the place in `choices` */
    /* The same, or CONFIG_PROFILE_FIRST and the number of a profile. */
    OPTION_PLACEMENT,
    OPTION_BOOL,
};

enum option_applies { APPLIES_AT_START, APPLIES_NOT_YET };

struct option {
    enum section_id section;
    const char *key;
    enum option_type type;
    size_t offset; /* of the member in the struct that holds the section */
    int64_t min, max;
    const char *default_text;   /* NULL: not set; option_required: must be set */
    const char *const *choices; /* ends with NULL; of an address: a word that may stand for one */
    enum option_applies applies;
    const char *help;
};

/* What a text became. */
struct option_value {
    int64_t number;   /* of numbers, choices and bools */
    const char *text; /* of texts and addresses: the text that was given */
};

enum { OPTION_MESSAGE_SIZE = 400 };

extern const char option_required[];

const struct section *section_by_id(enum section_id id);
/* "pools.*.nodes.*" */
void section_path(enum section_id id, struct buffer *ret_path);
/* The section of this key directly inside another, or NULL. */
const struct section *section_find(enum section_id parent, const char *key);

size_t option_count(void);
const struct option *option_by_index(size_t index);
/* The option of this key in a section, or NULL. */
const struct option *option_find(enum section_id section, const char *key);
/* What is nearest to an unknown key among the options and sections of a section, or NULL. */
const char *option_suggest(enum section_id section, const char *key);

/* Converts a text. False when it is no value of the option: the message then says what is wrong
 * and what would be right, without the option's name. */
bool option_convert(const struct option *option, const char *text, struct option_value *ret_value,
                    char ret_message[static OPTION_MESSAGE_SIZE]);
/* Puts a value into the struct that holds the section. */
void option_store(const struct option *option, const struct option_value *value, void *section);
/* Gives every option of a section its default. */
void option_store_defaults(enum section_id section, void *target);

/* A size or duration as a person would write it: "64kb", "100ms". */
void option_format_size(int64_t bytes, char *ret_text, size_t size);
void option_format_duration(int64_t ms, char *ret_text, size_t size);

/* ---- printing (options_print.c) -------------------------------------------------------------- */

/* "size", "debug, info, warn or error", … */
void option_describe_type(const struct option *option, struct buffer *out);
/* "1kb to 512mb"; nothing for types without a range. */
void option_describe_range(const struct option *option, struct buffer *out);
/* "pools.*.timeout" */
void option_describe_path(const struct option *option, struct buffer *out);
/* Type, range, default and help in one paragraph. */
void option_describe(const struct option *option, struct buffer *out);
/* All options: as Markdown, and as plain text for a terminal. */
void options_print_reference(struct buffer *out);
void options_print_help(struct buffer *out);

#endif
