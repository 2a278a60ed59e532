#include "cli/http.h"

#include <curl/curl.h>
#include <string.h>

#include "cli/cli.h"

enum { BODY_LEN_MAX = 256 << 20, TIMEOUT_SECONDS = 30, CONNECT_TIMEOUT_SECONDS = 3 };

static size_t take_body(char *bytes, size_t size, size_t count, void *context)
{
    struct buffer *body = context;
    size_t len = size * count;
    if (body->len + len > BODY_LEN_MAX || !buffer_append(body, bytes, len))
        return 0;
    return len;
}

static void prepare(CURL *curl, const char *url, struct buffer *body)
{
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http");
    /* The router is meant, whatever proxy the environment names. */
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TIMEOUT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
}

/* CLI_OK with the code of an answer, whatever it is; else after saying why there is none. */
static int perform(CURL *curl, const char *address, const char *path, long *ret_code)
{
    CURLcode result = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, ret_code);
    if (result == CURLE_COULDNT_CONNECT || result == CURLE_COULDNT_RESOLVE_HOST)
        return cli_fail("no router answers at %s (%s)\nStart one with `clockwise serve`, name its "
                        "admin address with --admin, or a configuration with -c FILE.",
                        address, curl_easy_strerror(result));
    if (result == CURLE_UNSUPPORTED_PROTOCOL || result == CURLE_WEIRD_SERVER_REPLY ||
        result == CURLE_GOT_NOTHING)
        return cli_fail("what answers at %s speaks no HTTP, so it is no admin address of a router; "
                        "--admin names the address that `clockwise serve` prints as admin",
                        address);
    if (result != CURLE_OK)
        return cli_fail("http://%s%s: %s", address, path, curl_easy_strerror(result));
    return CLI_OK;
}

/* Nothing of a question is kept by libcurl: `json` must live until it was asked. */
static void prepare_post(CURL *curl, const char *json, struct curl_slist *headers)
{
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, json);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)strlen(json));
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
}

int http_ask(const char *address, const char *path, const char *json, long *ret_code,
             struct buffer *ret_body)
{
    struct buffer url = BUFFER_INIT, body = BUFFER_INIT;
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    CURL *curl = curl_easy_init();
    int status;
    if (curl && headers && buffer_printf(&url, "http://%s%s%c", address, path, 0)) {
        prepare(curl, buffer_bytes(&url), &body);
        if (json)
            prepare_post(curl, json, headers);
        status = perform(curl, address, path, ret_code);
    } else {
        status = cli_fail("out of memory");
    }
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    buffer_release(&url);
    if (status == CLI_OK)
        *ret_body = body;
    else
        buffer_release(&body);
    return status;
}

int http_get(const char *address, const char *path, struct buffer *ret_body)
{
    struct buffer body = BUFFER_INIT;
    long code = 0;
    int status = http_ask(address, path, NULL, &code, &body);
    if (status == CLI_OK && code != 200) {
        status = cli_fail("http://%s%s: answered %ld: %.*s", address, path, code,
                          (int)(body.len > 200 ? 200 : body.len), buffer_bytes(&body));
        buffer_release(&body);
    }
    if (status == CLI_OK)
        *ret_body = body;
    return status;
}
