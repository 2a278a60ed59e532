/*
 * Where the keys of `clockwise compare` come from: a file or a pipe, or a seed. Draws by Zipf's law
 * are by rejection and inversion (Hörmann and Derflinger 1996): no table, exact, about one and a
 * half draws a key.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/random.h"
#include "cli/compare_keys.h"
#include "cli/lines.h"

/* ---- reading --------------------------------------------------------------------------------- */

static int add_lines(struct key_set *set, const struct line *lines, int count, uint64_t *read)
{
    for (int i = 0; i < count; i++) {
        int status = key_set_add(set, lines[i].text, lines[i].len);
        if (status < 0)
            return status;
        *read += lines[i].len + 1;
    }
    return 0;
}

int key_set_read(struct key_set *set, int file, char delimiter, struct progress *progress)
{
    struct line_reader reader;
    struct stat info;
    uint64_t read = 0, size = 0;
    int count, status = 0;
    struct line *lines = calloc(LINES_BATCH_MAX, sizeof *lines);
    if (!lines)
        return -ENOMEM;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode))
        size = (uint64_t)info.st_size;
    lines_open(&reader, file, delimiter);
    while (status == 0 && (count = lines_next(&reader, lines)) != 0) {
        status = count < 0 ? count : add_lines(set, lines, count, &read);
        progress_show(progress, "reading keys", size ? read : set->lines_seen, size);
    }
    lines_close(&reader);
    free(lines);
    return status;
}

/* ---- Zipf ------------------------------------------------------------------------------------ */

struct zipf {
    double exponent, count;
    double first, last; /* the range of the integral that is drawn from */
    double sure;        /* a draw that is this near to its rank needs no test */
};

/* x^-exponent, its integral, and the inverse of that; expm1 and log1p keep them exact near an
 * exponent of 1, where the integral is the logarithm. */
static double density(const struct zipf *zipf, double x)
{
    return exp(-zipf->exponent * log(x));
}

static double integral(const struct zipf *zipf, double x)
{
    double at = (1 - zipf->exponent) * log(x);
    return fabs(at) > 1e-8 ? expm1(at) / at * log(x) : log(x) * (1 + at / 2);
}

static double inverse(const struct zipf *zipf, double y)
{
    double at = fmax(y * (1 - zipf->exponent), -1);
    return exp(fabs(at) > 1e-8 ? log1p(at) / at * y : y * (1 - at / 2));
}

static struct zipf zipf_init(double exponent, uint64_t count)
{
    struct zipf zipf = {.exponent = exponent, .count = (double)count};
    zipf.first = integral(&zipf, 1.5) - 1;
    zipf.last = integral(&zipf, zipf.count + 0.5);
    zipf.sure = 2 - inverse(&zipf, integral(&zipf, 2.5) - density(&zipf, 2));
    return zipf;
}

/* A rank, 1 .. count. */
static uint64_t zipf_draw(const struct zipf *zipf, struct random *random)
{
    for (;;) {
        double part = (double)(random_next(random) >> 11) * 0x1p-53;
        double y = zipf->last + part * (zipf->first - zipf->last);
        double x = inverse(zipf, y);
        double rank = fmin(fmax(floor(x + 0.5), 1), zipf->count);
        if (rank - x <= zipf->sure || y >= integral(zipf, rank + 0.5) - density(zipf, rank))
            return (uint64_t)rank;
    }
}

/* ---- generating ------------------------------------------------------------------------------ */

int key_set_generate(struct key_set *set, uint64_t count, double exponent, uint64_t seed,
                     struct progress *progress)
{
    struct random random = {seed};
    struct zipf zipf = zipf_init(exponent, count);
    uint64_t start = random_below(&random, 1000000000);
    for (uint64_t i = 0; i < count; i++) {
        char key[32];
        uint64_t number = exponent > 0 ? zipf_draw(&zipf, &random) - 1 : i;
        int len = snprintf(key, sizeof key, "key:%llu", (unsigned long long)(start + number));
        int status = key_set_add(set, key, (size_t)len);
        if (status < 0)
            return status;
        if (i % 4096 == 0)
            progress_show(progress, "making keys", i, count);
    }
    return 0;
}
