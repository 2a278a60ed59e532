/*
 * Addresses from configuration files and commands: whatever the text, a reason or an address that
 * reads back the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "io/address.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void read_back(const struct address *address)
{
    struct sockaddr_storage sockaddr;
    struct address again;
    socklen_t sockaddr_len;
    char text[IO_ADDRESS_LEN_MAX];
    address_format(address, text);
    CW_ASSERT(address_parse(text, &again, NULL) == 0);
    CW_ASSERT(again.kind == address->kind && again.port == address->port);
    CW_ASSERT(strcmp(again.host, address->host) == 0);
    if (address->kind == ADDRESS_INPROC ||
        address_to_sockaddr(address, &sockaddr, &sockaddr_len) != 0)
        return;
    address_format_sockaddr(&sockaddr, sockaddr_len, text);
    CW_ASSERT(text[0] == '[' || address_problem(text) == NULL); /* a scope is written as a number */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct address address;
    const char *reason = NULL;
    char *text = malloc(len + 1);
    CW_ASSERT(text);
    memcpy(text, data, len);
    text[len] = 0;
    int rc = address_parse(text, &address, &reason);
    CW_ASSERT((rc == 0) == (reason == NULL));
    if (rc == 0)
        read_back(&address);
    free(text);
    return 0;
}
