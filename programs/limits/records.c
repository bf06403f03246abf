/*
 * Work on records, strings and small integers, in the manner of a classic benchmark of systems programming. The argument is
 * the number of rounds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { SOME, OTHER, THIRD };

struct record {
    struct record *next;
    enum kind kind;
    int number;
    char text[32];
};

static struct record *first, *second;
static int numbers[50], table[50][50];
static char letter;

__attribute__((noinline)) static enum kind after(enum kind kind, int number)
{
    switch (kind) {
    case SOME:
        return number > 100 ? SOME : THIRD;
    case OTHER:
        return SOME;
    default:
        return OTHER;
    }
}

__attribute__((noinline)) static void fill(int *row, int (*all)[50], int at, int value)
{
    for (int i = 0; i < 5; i++)
        row[(at + i) % 50] += value + i;
    for (int i = 0; i < 5; i++)
        all[(at + i) % 50][value % 50] = row[(at + i) % 50];
}

/* How many letters two strings have in common at their beginning; notes the first that differs. */
__attribute__((noinline)) static int common(const char *a, const char *b)
{
    int at = 0;
    while (a[at] && a[at] == b[at])
        at++;
    letter = b[at];
    return at;
}

__attribute__((noinline)) static void copy(struct record *from)
{
    struct record *to = from->next;
    *to = *first;
    from->number = 5;
    to->number = from->number;
    to->next = from->next;
    to->kind = after(from->kind, to->number);
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 2000;
    char one[32] = "a string of thirty letters, 1st", two[32];
    first = calloc(1, sizeof *first);
    second = calloc(1, sizeof *second);
    if (!first || !second)
        return 1;
    first->next = second;
    first->kind = THIRD;
    first->number = 40;
    strcpy(first->text, "a string of some letters, rest");
    int sum = 0;
    for (int round = 0; round < rounds; round++) {
        int a = 2, b = 3, c;
        strcpy(two, "a string of thirty letters, 2nd");
        two[28] = (char)('0' + round % 10);
        if (common(one, two) > 28 || strcmp(one, two) > 0)
            sum++;
        while (a < b) {
            c = 5 * a - b;
            a += c > 6 ? 2 : 1;
            sum += c;
        }
        fill(numbers, table, a, sum & 0xff);
        second->kind = (enum kind)(round % 3);
        copy(first);
        for (char at = '0'; at <= letter && at <= '9'; at++)
            if (at == (char)('0' + round % 3))
                b += sum / (1 + (round & 7)) - a;
        sum = (sum + b) & 0xffff;
    }
    printf("%d %d %d %s\n", sum, numbers[8], table[8][7], second->text);
    free(second);
    free(first);
    return 0;
}
