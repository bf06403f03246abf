/* Compresses and restores text that it makes up: `round_trip KIB [LEVEL]`. Links with libzstd. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static unsigned long state = 88172645463325252ul;

static unsigned below(unsigned most) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 11) % most;
}

int main(int argc, char **argv) {
    static const char *words[] = {"the ", "task ", "graph ", "of ", "a ", "program ", "strand ", "edge ", "memory ", "line\n"};
    size_t size = (size_t)(argc > 1 ? atol(argv[1]) : 1000) << 10, length = 0;
    int level = argc > 2 ? atoi(argv[2]) : 1;
    char *text = malloc(size + 64);
    while (length < size) {
        /* Words, numbers, and what was there before. */
        unsigned kind = below(16);
        if (kind == 0 && length > 4096) {
            size_t from = below((unsigned)length - 64), count = 8 + below(48);
            memcpy(text + length, text + from, count);
            length += count;
        } else if (kind < 4) {
            length += (size_t)sprintf(text + length, "%u ", below(100000));
        } else {
            const char *word = words[below(10)];
            size_t count = strlen(word);
            memcpy(text + length, word, count);
            length += count;
        }
    }
    size_t most = ZSTD_compressBound(size);
    char *packed = malloc(most), *restored = malloc(size);
    size_t found = ZSTD_compress(packed, most, text, size, level);
    if (ZSTD_isError(found) || ZSTD_decompress(restored, size, packed, found) != size || memcmp(text, restored, size) != 0) {
        fprintf(stderr, "what came back is something else\n");
        return 1;
    }
    printf("%zu bytes of %zu\n", found, size);
    return 0;
}
