#include "control/admin_change.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/suggest.h"
#include "control/change_json.h"
#include "control/journal.h"
#include "control/last_transition.h"

enum { POOLS_MAX = 256, HISTORY_MAX = 500 };

/* One question about one pool. */
struct asking {
    const struct admin_change *on;
    const struct admin_question *question;
    struct answer *answer;
    uint32_t pool;
    const char *pool_name;
};

static const char not_stored[] =
    "this router stores no maps, so it can change none; write a folder "
    "instead of off as its map_store, and start it again";

/* ---- plan and transitions -------------------------------------------------------------------- */

/* What is needed for both, filled and released together. */
struct wanted {
    struct change_request request;
    struct change change;
    struct cw_map *map;
    struct change_pool pool;
    char who[TRANSITION_WHO_SIZE];
};

static void wanted_release(struct wanted *wanted)
{
    change_release(&wanted->change);
    change_request_release(&wanted->request);
    cw_map_unref(&wanted->map);
}

static bool read_wanted(const struct asking *asking, struct wanted *ret_wanted)
{
    struct change_problem problem;
    const struct admin_question *question = asking->question;
    struct wanted wanted = {.map = router_map(asking->on->router, asking->pool)};
    wanted.pool = (struct change_pool){
        .name = asking->pool_name,
        .is_embedded = asking->on->config->pools[asking->pool].engine == ENGINE_EMBEDDED,
        .map = wanted.map,
    };
    if (!change_request_parse(question->body, question->body_len, &wanted.request, &problem) ||
        !change_make(&wanted.pool, &wanted.request, &wanted.change, &problem)) {
        answer_refuse_sentence(asking->answer, answer_code_of(problem.status), problem.text);
        wanted_release(&wanted);
        return false;
    }
    snprintf(wanted.who, sizeof wanted.who, "%.80s%s%.40s",
             wanted.request.who ? wanted.request.who : "admin", wanted.request.who ? " via " : " ",
             question->peer);
    *ret_wanted = wanted;
    return true;
}

static struct mover_change mover_change_of(const struct asking *asking, const struct wanted *wanted)
{
    return (struct mover_change){
        .pool = asking->pool,
        .kind = wanted->change.kind,
        .generation = cw_map_generation(wanted->map),
        .nodes = wanted->change.nodes,
        .node_count = wanted->change.count,
        .to = wanted->change.to,
        .is_deep = wanted->request.is_deep,
        .may_purge = wanted->request.may_purge,
        .no_copy = wanted->request.no_copy,
        .dead_id = wanted->change.dead_id,
        .throttle = wanted->request.throttle,
        .who = wanted->who,
        .what = wanted->change.what,
    };
}

static void refuse_answer(struct answer *answer, const struct change_answer *got)
{
    answer_refuse_sentence(answer, answer_code_of(got->status), got->text);
}

/* Sends a question to the mover and waits; false after a refusal was answered. */
enum asked_for { ASKED_ESTIMATE, ASKED_START };

static bool ask_mover(const struct asking *asking, const struct wanted *wanted, enum asked_for what,
                      struct change_answer *ret_got)
{
    struct mover *mover = asking->on->mover;
    struct mover_change change = mover_change_of(asking, wanted);
    struct change_wait *wait = change_wait_create();
    if (!wait) {
        answer_refuse(asking->answer, 503, "out of memory", "");
        return false;
    }
    int asked = what == ASKED_START
                    ? mover_start(mover, &change, change_wait_answer, wait)
                    : mover_ask_estimate(mover, &change, change_wait_estimated, wait);
    change_wait_end(&wait, asked, asking->on->timeout_ms, asking->on->is_stopping, ret_got);
    if (ret_got->status < 0)
        refuse_answer(asking->answer, ret_got);
    return ret_got->status >= 0;
}

static void page_plan(const struct asking *asking)
{
    struct wanted wanted;
    struct change_answer got = {0};
    if (!read_wanted(asking, &wanted))
        return;
    if (!wanted.change.is_change || ask_mover(asking, &wanted, ASKED_ESTIMATE, &got))
        answer_json(asking->answer, 200,
                    change_plan_json(&wanted.pool, &wanted.change, got.estimate));
    change_estimate_destroy(&got.estimate);
    wanted_release(&wanted);
}

static json_t *started_json(const struct asking *asking, const struct wanted *wanted,
                            const char *text)
{
    struct mover_report report;
    json_t *transition = json_null();
    if (mover_read(asking->on->mover, asking->pool, &report)) {
        transition = change_transition_json(asking->pool_name, &report);
        mover_report_release(&report);
    }
    return json_pack("{s:s, s:o, s:o, s:o}", "pool", asking->pool_name, "what",
                     change_any_text(wanted->change.what), "text", change_any_text(text),
                     "transition", transition);
}

static void page_start(const struct asking *asking)
{
    struct wanted wanted;
    struct change_answer got = {0};
    if (!read_wanted(asking, &wanted))
        return;
    if (!wanted.change.is_change)
        answer_refuse(asking->answer, 409, "nothing would change",
                      "the pool already is as it is wanted");
    else if (ask_mover(asking, &wanted, ASKED_START, &got))
        answer_json(asking->answer, 202, started_json(asking, &wanted, got.text));
    wanted_release(&wanted);
}

/* ---- a transition that runs ------------------------------------------------------------------ */

/* What this router did not do itself, the journal tells. */
static void page_transition_before(const struct asking *asking)
{
    char problem[MAP_PROBLEM_SIZE] = "";
    struct journal_entry *entries = NULL;
    struct mover_report report;
    size_t count = 0;
    int status = journal_read(asking->on->journals, asking->pool_name, HISTORY_MAX, &entries,
                              &count, problem);
    if (status < 0)
        answer_refuse_sentence(asking->answer, answer_code_of(status), problem);
    else if (!last_transition(entries, count, &report))
        answer_refuse(asking->answer, 404, "this pool had no transition yet",
                      "`clockwise node` and `clockwise apply` begin one");
    else
        answer_json(asking->answer, 200, change_ended_json(asking->pool_name, &report));
    free(entries);
}

static void page_transition(const struct asking *asking)
{
    struct mover_report report;
    if (!mover_read(asking->on->mover, asking->pool, &report)) {
        page_transition_before(asking);
        return;
    }
    answer_json(asking->answer, 200, change_transition_json(asking->pool_name, &report));
    mover_report_release(&report);
}

static void tell(const struct asking *asking, enum mover_verb verb,
                 const struct throttle_settings *throttle)
{
    struct change_answer got;
    struct change_wait *wait = change_wait_create();
    if (!wait) {
        answer_refuse(asking->answer, 503, "out of memory", "");
        return;
    }
    int asked = mover_tell(asking->on->mover, asking->pool, verb, throttle, change_wait_answer,
                           wait);
    change_wait_end(&wait, asked, asking->on->timeout_ms, asking->on->is_stopping, &got);
    if (got.status < 0)
        refuse_answer(asking->answer, &got);
    else
        answer_json(
            asking->answer, 200,
            json_pack("{s:s, s:o}", "pool", asking->pool_name, "text", change_any_text(got.text)));
}

static void page_pause(const struct asking *asking)
{
    tell(asking, MOVER_PAUSE, NULL);
}

static void page_resume(const struct asking *asking)
{
    tell(asking, MOVER_RESUME, NULL);
}

static void page_cancel(const struct asking *asking)
{
    tell(asking, MOVER_CANCEL, NULL);
}

static void page_abandon(const struct asking *asking)
{
    tell(asking, MOVER_ABANDON, NULL);
}

static void page_throttle(const struct asking *asking)
{
    struct throttle_settings settings;
    struct change_problem problem;
    const struct admin_question *question = asking->question;
    if (change_throttle_parse(question->body, question->body_len, &settings, &problem))
        tell(asking, MOVER_THROTTLE, &settings);
    else
        answer_refuse_sentence(asking->answer, answer_code_of(problem.status), problem.text);
}

/* ---- what was ------------------------------------------------------------------------------- */

static void page_history(const struct asking *asking)
{
    char problem[MAP_PROBLEM_SIZE] = "";
    struct journal_entry *entries = NULL;
    size_t count = 0;
    int status = journal_read(asking->on->journals, asking->pool_name, HISTORY_MAX, &entries,
                              &count, problem);
    if (status < 0)
        answer_refuse_sentence(asking->answer, answer_code_of(status), problem);
    else
        answer_json(asking->answer, 200, change_history_json(asking->pool_name, entries, count));
    free(entries);
}

/* ---- which page, which pool ------------------------------------------------------------------ */

static bool find_pool(struct asking *asking, const char *name, size_t len)
{
    const struct config *config = asking->on->config;
    for (size_t i = 0; i < config->pool_count; i++)
        if (strlen(config->pools[i].name) == len && memcmp(config->pools[i].name, name, len) == 0) {
            asking->pool = (uint32_t)i;
            asking->pool_name = config->pools[i].name;
            return true;
        }
    return false;
}

static void no_such_pool(const struct asking *asking, const char *name, size_t len)
{
    const struct config *config = asking->on->config;
    const char *names[POOLS_MAX];
    char word[64], error[160], remedy[160];
    size_t count = 0;
    for (; count < config->pool_count && count < POOLS_MAX; count++)
        names[count] = config->pools[count].name;
    snprintf(word, sizeof word, "%.*s", (int)(len < 63 ? len : 63), name);
    snprintf(error, sizeof error, "there is no pool '%s'", word);
    const char *nearest = suggest_nearest(word, names, count);
    if (nearest)
        snprintf(remedy, sizeof remedy, "did you mean '%.63s'?", nearest);
    else
        snprintf(remedy, sizeof remedy, "/v1/pools lists them");
    answer_refuse(asking->answer, 404, error, remedy);
}

static const struct page {
    const char *name, *method;
    void (*page)(const struct asking *asking);
} pages[] = {
    {"plan", "POST", page_plan},
    {"transitions", "POST", page_start},
    {"transition", "GET", page_transition},
    {"history", "GET", page_history},
    {"transition/pause", "POST", page_pause},
    {"transition/resume", "POST", page_resume},
    {"transition/cancel", "POST", page_cancel},
    {"transition/abandon", "POST", page_abandon},
    {"transition/throttle", "POST", page_throttle},
};

static const struct page *find_page(const char *name)
{
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
        if (strcmp(pages[i].name, name) == 0)
            return &pages[i];
    return NULL;
}

static void run_page(const struct page *page, const struct asking *asking)
{
    const char *method = asking->question->method;
    bool is_head = strcmp(method, "HEAD") == 0 && strcmp(page->method, "GET") == 0;
    if (strcmp(method, page->method) != 0 && !is_head)
        answer_refuse(asking->answer, 405, "this page is not asked that way",
                      strcmp(page->method, "GET") == 0 ? "use GET" : "use POST");
    else if (!asking->on->mover || !asking->on->journals)
        answer_refuse_sentence(asking->answer, 501, not_stored);
    else
        page->page(asking);
}

/* "/v1/pools/NAME/PAGE"; NULL when it is another one. */
static const struct page *page_of(const char *url, const char **ret_name, size_t *ret_len)
{
    static const char prefix[] = "/v1/pools/";
    if (strncmp(url, prefix, sizeof prefix - 1) != 0)
        return NULL;
    const char *name = url + sizeof prefix - 1, *end = strchr(name, '/');
    if (!end)
        return NULL;
    *ret_name = name;
    *ret_len = (size_t)(end - name);
    return find_page(end + 1);
}

bool admin_change_has_page(const char *url)
{
    const char *name;
    size_t len;
    return page_of(url, &name, &len) != NULL;
}

bool admin_change_page(const struct admin_change *change, const struct admin_question *question,
                       struct answer *answer)
{
    struct asking asking = {.on = change, .question = question, .answer = answer};
    const char *name;
    size_t len;
    const struct page *page = page_of(question->url, &name, &len);
    if (!page)
        return false;
    if (find_pool(&asking, name, len))
        run_page(page, &asking);
    else
        no_such_pool(&asking, name, len);
    return true;
}
