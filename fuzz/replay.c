/*
 * Runs a fuzz target over the files of its corpus folders, so that what a fuzzer once found stays
 * found on every test run without libFuzzer. Fails when there is nothing to replay.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        return -1;
    }
    fseek(file, 0, SEEK_END);
    long len = ftell(file);
    rewind(file);
    uint8_t *data = malloc((size_t)len + 1);
    size_t got = fread(data, 1, (size_t)len, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, got);
    free(data);
    return 0;
}

static long replay_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    if (!dir) {
        perror(folder);
        return -1;
    }
    long count = 0;
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir)) {
        char path[4096];
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (replay_file(path) == 0)
            count++;
    }
    closedir(dir);
    return count;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        long count = replay_folder(argv[i]);
        printf("%s: %ld inputs replayed\n", argv[i], count);
        if (count <= 0)
            return 1;
    }
    return argc > 1 ? 0 : 1;
}
