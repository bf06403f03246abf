// Functions of the C library that touch as much as an argument or their result says: rows that do not meet, and rows that do.
// Labels as in arrays.c.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 20

static char rows[16 * N + 32], others[16 * N + 32], names[N][16], all[400], widths[N], chain[N][8] = {"ab"};
static int table[50], hits[50], numbers[10 * N + 10], key;

static int by_value(const void *a, const void *b) {
  const int *left = (const int *)a, *right = (const int *)b;
  return (*left > *right) - (*left < *right);
}

static void say(const char *of, const char *bytes, size_t count) {
  unsigned sum = 0;
  for (size_t i = 0; i < count; i++) sum = sum * 31 + (unsigned char)bytes[i];
  printf("%s %u\n", of, sum);
}

int main(void) {
  char word[16] = "abcdefgh";
  int found = 0, n = N;
  for (int i = 0; i < n; i++) // @parallel
    names[i][0] = 'a' + i, names[i][1] = 0;

  for (int i = 0; i < n; i++) // @parallel
    strncpy(rows + 16 * i, word, 16);
  for (int i = 0; i < n; i++) // @parallel
    strncpy(others + 8 * i, word, 8);
  for (int i = 0; i < n; i++) // @serial
    strncpy(others + 8 * i, word, 9);
  for (int i = 0; i < n; i++) // @parallel
    strncpy(others + 8 * i, rows + 16 * i, 4);
  for (int i = 1; i < n; i++) // @serial
    strncpy(rows + 8 * i, rows + 8 * i - 8, 4);
  // Two characters are read, and none of those behind them.
  for (int i = 0; i < n; i++) { // @parallel
    strncpy(others + 16 * i, names[i], 16);
    names[i][3] = 'x';
  }
  say("strncpy", rows, sizeof rows);

  for (int i = 0; i < n; i++) // @parallel
    snprintf(rows + 8 * i, 8, "%d", i);
  for (int i = 0; i < n; i++) // @parallel
    snprintf(rows + 8 * i, 100, "%d", 1000 + i);
  for (int i = 0; i < n; i++) // @serial
    snprintf(rows + 8 * i, 10, "123456789");
  for (int i = 0; i < n; i++) // @parallel
    widths[i] = snprintf(rows + 8 * i, 8, "%.*s-%s", 3, word, names[i]);
  for (int i = 1; i < n; i++) // @serial
    snprintf(rows + 8 * i, 8, "%s", rows + 8 * i - 7);
  for (int i = 1; i < n; i++) // @serial
    sprintf(names[i], "%.9s+", names[i - 1]);
  for (int i = 0; i < n - 1; i++) // @parallel
    snprintf(names[i] + 8, 8, "%.2s", names[i]);
  for (int i = 0; i < n; i++) // @parallel
    snprintf(NULL, 0, "%d", i);
  say("snprintf", rows, sizeof rows);
  say("names", names[0], sizeof names);

  memset(others, 0, sizeof others);
  for (int i = 0; i < n; i++) // @parallel
    strncat(others + 16 * i, word, 5);
  for (int i = 0; i < n; i++) // @parallel
    strncat(others + 16 * i, names[i], 3);
  for (int i = 0; i < n; i++) // @serial
    strncat(all, word, 2);
  for (int i = 1; i < n; i++) // @serial
    strncat(chain[i], chain[i - 1], 7);
  say("strncat", others, sizeof others);
  say("all", all, sizeof all);
  say("chain", chain[0], sizeof chain);

  for (int i = 0; i < n; i++) // @parallel
    memccpy(others + 16 * i, rows + 16 * i, 0, 16);
  // It ends before the next row.
  for (int i = 0; i < n; i++) // @parallel
    memccpy(others + 16 * i, word, 'd', 100);
  for (int i = 0; i < n; i++) // @serial
    memccpy(others + 16 * i, word, 'z', 17);
  for (int i = 1; i < n; i++) // @serial
    memccpy(rows + 16 * i, rows + 16 * i - 16, 0, 16);
  say("memccpy", others, sizeof others);

  for (int i = 0; i < 50; i++) // @parallel
    table[i] = 2 * i;
  for (int i = 0; i < 50; i++) { // @parallel
    int wanted = i;
    int *at = (int *)bsearch(&wanted, table, 50, sizeof(int), by_value);
    hits[i] = at ? (int)(at - table) : -1;
  }
  for (int i = 0; i < 50; i++) { // @clauses
    int wanted = i;
    found += bsearch(&wanted, table, 50, sizeof(int), by_value) != NULL;
  }
  for (int i = 1; i < 50; i++) { // @serial
    key = key * 3 % 97 + i;
    hits[i] = bsearch(&key, table, 50, sizeof(int), by_value) != NULL;
  }
  for (int i = 1; i < 50; i++) { // @serial
    int wanted = table[i - 1];
    int *at = (int *)bsearch(&wanted, table, i, sizeof(int), by_value);
    table[i] = at[0] + 2;
  }
  say("bsearch", (const char *)hits, sizeof hits);

  for (int i = 0; i < 10 * n; i++) // @parallel
    numbers[i] = i * 7919 % 101;
  for (int i = 0; i < n; i++) // @parallel
    qsort(numbers + 10 * i, 10, sizeof(int), by_value);
  for (int i = 0; i < n; i++) // @serial
    qsort(numbers + 10 * i, 11, sizeof(int), by_value);
  say("qsort", (const char *)numbers, sizeof numbers);
  printf("%d\n", found);
  return 0;
}
