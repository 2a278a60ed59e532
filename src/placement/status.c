#include <clockwise/clockwise.h>

const char *cw_status_name(enum cw_status status)
{
    switch (status) {
#define NAME_CASE(name, number, text)                                                              \
    case CW_##name: return "CW_" #name;
        CW_STATUS_LIST(NAME_CASE)
#undef NAME_CASE
    }
    return "CW_UNKNOWN";
}

const char *cw_status_message(enum cw_status status)
{
    switch (status) {
#define MESSAGE_CASE(name, number, text)                                                           \
    case CW_##name: return text;
        CW_STATUS_LIST(MESSAGE_CASE)
#undef MESSAGE_CASE
    }
    return "unknown status";
}
