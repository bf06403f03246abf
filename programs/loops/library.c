/* The C library, lists, static variables, state in another file (library_state.c). Labels as in arrays.c. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ctype.h>
#include <errno.h>
#include "library_state.h"
/* lists, several files, static locals, memcpy family, qsort, strings, files */
struct cell { int v; struct cell *next, *prev; };
static struct cell *list, *tail;
static char lines[16][64], copy[16][64], big[1024];
static int a[N], b[N], order[N][6];
static int cmp(const void *x, const void *y) { return *(const int *)x - *(const int *)y; }
static int compares;
static int counted(const void *x, const void *y) { compares++; return *(const int *)x - *(const int *)y; }
static struct cell *make(int v) { struct cell *c = malloc(sizeof *c); c->v = v; c->next = c->prev = 0; return c; }
static int next_id(void) { static int id = 100; return id++; }
static int parity(int i) { static const int odd[4] = {0, 1, 0, 1}; return odd[i & 3]; }
static int scratch(int i) { static int t[4]; for (int k = 0; k < 4; k++) t[k] = i + k; return t[1] * t[3]; }
static int memo(int i) { static int known[64]; if (!known[i]) known[i] = i * i + 1; return known[i]; }

static void lists(void) {
  for (int i = 0; i < N; i++) { /* @serial */
    struct cell *c = make(i);
    c->next = list;
    if (list) list->prev = c;
    list = c;
  }
  for (struct cell *c = list; c; c = c->next) /* @serial */
    c->v *= 2;
  int n = 0;
  struct cell *at[N];
  for (struct cell *c = list; c; c = c->next) /* @serial */
    at[n++] = c;
  for (int i = 0; i < n; i++) /* @parallel */
    at[i]->v += 1;
  int sum = 0;
  for (int i = 0; i < n; i++) /* @clauses */
    sum += at[i]->v;
  for (int i = 1; i < n; i++) /* @parallel */
    at[i]->next = at[i - 1];
  for (int i = 0; i + 1 < n; i++) /* @serial */
    at[i]->next->v += at[i]->v;
  struct cell *rev = 0;
  for (int i = 0; i < n; i++) { /* @serial */
    at[i]->next = rev;
    rev = at[i];
  }
  struct cell **buckets = calloc(8, sizeof *buckets);
  for (int i = 0; i < n; i++) { /* @serial */
    at[i]->next = buckets[at[i]->v % 8];
    buckets[at[i]->v % 8] = at[i];
  }
  for (int i = 0; i < 8; i++) { /* @parallel */
    int best = -1;
    for (struct cell *c = buckets[i]; c; c = c->next) /* @serial */
      if (c->v > best) best = c->v;
    b[i] = best;
  }
  free(buckets);
  for (int i = 0; i < n; i++) /* @parallel */
    free(at[i]);
  printf("%d\n", sum);
}
static void statics(void) {
  for (int i = 0; i < N; i++) /* @serial */
    a[i] = next_id();
  for (int i = 0; i < N; i++) /* @parallel */
    a[i] = parity(i);
  for (int i = 0; i < N; i++) /* @clauses */
    a[i] = scratch(i);
  for (int i = 0; i < N; i++) /* @serial */
    a[i] = memo(i % 10);
  for (int i = 0; i < N; i++) /* @serial */
    other_add(i);
  for (int i = 0; i < N; i++) /* @parallel */
    a[i] = other_get() + i;
  for (int i = 0; i < N; i++) /* @parallel */
    other_set(a, i);
  for (int i = 1; i < N; i++) /* @serial */
    other_chain(a, i);
  for (int i = 0; i < N; i++) /* @clauses */
    other_last = i;
  for (int i = 0; i < N; i++) { /* @clauses */
    other_last = i * 3;
    b[i] = other_read();
  }
}
static void memory(void) {
  for (int i = 0; i < 16; i++) /* @parallel */
    memset(lines[i], 'a' + i, 63);
  for (int i = 0; i < 16; i++) /* @parallel */
    memcpy(copy[i], lines[15 - i], 64);
  for (int i = 1; i < 16; i++) /* @serial */
    memcpy(lines[i], lines[i - 1], 64);
  for (int i = 0; i < 60; i++) /* @serial */
    memmove(big + i, big + i + 1, 3);
  char tmp[64];
  for (int i = 0; i < 16; i++) { /* @clauses */
    memcpy(tmp, copy[i], 64);
    lines[i][0] = tmp[63];
    lines[i][1] = tmp[1];
  }
  int n = 5;
  for (int i = 0; i < 16; i++) { /* @parallel */
    memset(copy[i], 0, n + i);
  }
  for (int i = 0; i < 20; i++) /* @serial */
    memset(big + 8 * i, i, 16);
  for (int i = 0; i < 20; i++) /* @parallel */
    memset(big + 16 * i, i, 16);
}
static void sorting(void) {
  for (int i = 0; i < N; i++) /* @parallel */
    for (int k = 0; k < 6; k++) /* @parallel */
      order[i][k] = (k * 7 + i * 5) % 11;
  for (int i = 0; i < N; i++)
    qsort(order[i], 6, sizeof(int), cmp);
  for (int i = 0; i < N; i++) /* @clauses */
    qsort(order[i], 6, sizeof(int), counted);
  int hits = 0;
  for (int i = 0; i < N; i++) { /* @clauses */
    int key = i % 11;
    if (bsearch(&key, order[i], 6, sizeof(int), cmp)) hits++;
  }
  for (int i = 0; i < N; i++) /* @serial */
    qsort(a, 10 + i % 3, sizeof(int), cmp);
  printf("%d %d\n", hits, compares > 0);
}
static void strings(void) {
  size_t len[16], total = 0;
  int digits = 0, diff = 0;
  for (int i = 0; i < 16; i++) { /* @parallel */
    lines[i][0] = 'k';
    lines[i][1] = 'a' + i;
    lines[i][2] = i & 1 ? 'x' : 0;
    lines[i][3] = 0;
  }
  for (int i = 0; i < 16; i++) /* @parallel */
    len[i] = strlen(lines[i]);
  for (int i = 0; i < 16; i++) /* @clauses */
    total += strlen(lines[i]);
  for (int i = 0; i < 16; i++) /* @clauses */
    if (strcmp(lines[i], lines[0])) diff++;
  for (int i = 0; i < 64; i++)
    if (isdigit((unsigned char)lines[i / 8][i % 8])) digits++;
  for (int i = 0; i < 64; i++) /* @parallel */
    big[i] = toupper((unsigned char)"hello workspan"[i % 14]);
  char *p = big;
  int spaces = 0;
  while (*p) { /* @serial */
    if (*p++ == ' ') spaces++;
  }
  for (int i = 1; i < 16; i++) /* @serial */
    strcat(lines[i], lines[i - 1]);
  for (int i = 0; i < 16; i++) { /* @serial */
    strcpy(big, "a,b;c");
    char *t = strtok(big, ",");
    a[i] = *t;
  }
  char word[8] = "abc";
  for (int i = 0; i < 8; i++) /* @serial */
    strcat(big, word);
  long v = 0;
  static const char *numbers[4] = {"12", "0x1f", "7", "-9"};
  for (int i = 0; i < 4; i++) /* @clauses */
    v += strtol(numbers[i], 0, 0);
  for (int i = 0; i < 4; i++) /* @parallel */
    b[i] = atoi(numbers[i]);
  char *dup[16];
  for (int i = 0; i < 16; i++) /* @parallel */
    dup[i] = strdup(lines[i]);
  for (int i = 0; i < 16; i++) /* @parallel */
    free(dup[i]);
  printf("%zu %d %d %d %ld\n", total, diff, digits, spaces, v);
}
static void files(void) {
  char buf[64], *line = 0;
  size_t cap = 0;
  int n = 0;
  FILE *f = fopen("library.tmp", "w+");
  for (int i = 0; i < 10; i++) /* @serial */
    fprintf(f, "line %d\n", i);
  rewind(f);
  while (fgets(buf, sizeof buf, f)) /* @serial */
    n += strlen(buf);
  rewind(f);
  while (getline(&line, &cap, f) > 0) /* @serial */
    n++;
  rewind(f);
  int c;
  while ((c = fgetc(f)) != EOF) /* @serial */
    n += c == '\n';
  for (int i = 0; i < 5; i++) { /* @serial */
    fseek(f, i * 2, SEEK_SET);
    a[i] = fgetc(f);
  }
  fclose(f);
  remove("library.tmp");
  int x;
  char name[16];
  for (int i = 0; i < 3; i++) /* @serial */
    if (scanf("%15s %d", name, &x) == 2) b[i] = x;
  for (int i = 0; i < 4; i++) /* @parallel */
    errno = i;
  free(line);
  printf("%d\n", n);
}
int main(void) {
  lists(); statics(); memory(); sorting(); strings(); files();
  printf("%d\n", a[3] + b[4] + other_last);
}
