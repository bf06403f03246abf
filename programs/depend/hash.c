#include <stdio.h>
#include <stdlib.h>
struct entry {
    unsigned long key, value;
};
static struct entry *table;
static unsigned long mask;
static unsigned long place(unsigned long key) {
    return (key * 0x9e3779b97f4a7c15ul >> 20) & mask;
}
static void put(unsigned long key, unsigned long value) {
    unsigned long at = place(key);
    while (table[at].key && table[at].key != key)
        at = (at + 1) & mask;
    table[at].key = key;
    table[at].value = value;
}
static unsigned long get(unsigned long key) {
    unsigned long at = place(key);
    while (table[at].key && table[at].key != key)
        at = (at + 1) & mask;
    return table[at].value;
}
int main(int argc, char **argv) {
    unsigned long n = argc > 1 ? atol(argv[1]) : 100000, size = 1;
    while (size < 2 * n)
        size *= 2;
    mask = size - 1;
    table = calloc(size, sizeof *table);
    for (unsigned long i = 1; i <= n; i++)
        put(i * 7919, i);
    unsigned long sum = 0;
    for (unsigned long i = 1; i <= 4 * n; i++)
        sum += get(i * 3 % (n * 7919) + 1);
    printf("%lu\n", sum);
    return 0;
}
