/* Idioms: pointers, do-while, goto, structures of arrays, two-dimensional arrays of variable length, lists, early exits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 48

struct body { double x, v; };
struct bodies { double x[N], v[N], f[N]; };
struct node { int value; struct node *next; };

static double data[N], other[N];
static int index_of[N], histogram[16], prefix[N];
static struct bodies all;
static struct body array[N];

static double weight(double x) { return x * 0.5 + 1; }

static double pointers(double *from, double *to, int n) {
  double *end = from + n, *p = from, *q = to, sum = 0;
  while (p < end) { *q++ = weight(*p++); }                        /* @clauses */
  for (p = from; p != end; p++) sum += *p;                        /* @clauses */
  p = from;
  do { *p += 1; p++; } while (p < end);                           /* @parallel */
  for (p = from + 1; p < end; p++) *p = p[-1] * 0.5 + *p;         /* @serial */
  for (p = from; p < end; p++) if (*p > 1e9) break;               /* @serial */
  return sum;
}

static int gotos(int n) {
  int i = 0, s = 0;
again:
  s += index_of[i]; i++;
  if (i < n) goto again;
  for (i = 0; i < n; i++) { if (index_of[i] & 1) continue; data[i] += 1; }         /* @parallel */
  for (i = 0; i < n; i++) { if (index_of[i] > n * 2) goto out; data[i] += 1; }     /* @serial */
out:
  return s + i;
}

static double structures(int n) {
  double energy = 0;
  for (int i = 0; i < n; i++) all.f[i] = -all.x[i];                                /* @parallel */
  for (int i = 0; i < n; i++) { all.v[i] += all.f[i] * 0.1; all.x[i] += all.v[i]; } /* @parallel */
  for (int i = 0; i < n; i++) energy += all.v[i] * all.v[i];                       /* @clauses */
  for (int i = 0; i + 1 < n; i++) array[i + 1].x = array[i].x + array[i].v;        /* @serial */
  for (int i = 0; i < n; i++) array[i].v = array[i].x * 0.5;                       /* @parallel */
  return energy;
}

static double variable_length(int rows, int columns) {
  double grid[rows][columns], sum = 0;
  for (int i = 0; i < rows; i++)                                                   /* @parallel */
    for (int j = 0; j < columns; j++) grid[i][j] = i + j;                          /* @parallel */
  for (int i = 1; i < rows; i++)                                                   /* @serial */
    for (int j = 0; j < columns; j++) grid[i][j] += grid[i - 1][j];                /* @parallel */
  for (int i = 0; i < rows; i++) {                                                 /* @clauses */
    double row[columns], most = 0;
    for (int j = 0; j < columns; j++) row[j] = grid[i][j] * 2;                     /* @parallel */
    for (int j = 0; j < columns; j++) if (row[j] > most) most = row[j];            /* @clauses */
    sum += most;
  }
  return sum;
}

static int tables(int n) {
  int total = 0;
  for (int i = 0; i < n; i++) histogram[index_of[i] % 16]++;                       /* @clauses */
  for (int i = 0; i < n; i++) { total += index_of[i]; prefix[i] = total; }         /* @serial */
  for (int i = 0; i < n; i++) data[(i * 5) % n] = i;                               /* @parallel */
  for (int i = 0; i < n; i++) data[index_of[i] % 4] = i;                           /* @serial */
  for (int i = 0; i < n / 2; i++) { double t = data[i]; data[i] = data[n - 1 - i]; data[n - 1 - i] = t; } /* @parallel */
  return total;
}

static long elements(int n) {
  static long count[8], most[8], seen[8], pairs[8][8];
  long *bins = calloc(8, sizeof *bins), sum = 0, twice = 0;
  for (int i = 0; i < n; i++) count[index_of[i] % 8] += i;                         /* @clauses */
  for (int i = 0; i < n; i++) bins[index_of[i] % 8]++;                             /* @clauses */
  for (int i = 0; i < n; i++) pairs[i % 3][index_of[i] % 8] -= i;                  /* @clauses */
  for (int i = 0; i < n; i++) {                                                    /* @clauses */
    int at = index_of[i] % 8;
    if (i > most[at]) most[at] = i;
  }
  for (int i = 0; i < n; i++) { count[i % 8] += i; bins[(i + 1) % 8]++; }          /* @clauses */
  for (int i = 0; i < n; i++) { count[i % 8] += 3; count[(i + 3) % 8] *= 2; }      /* @serial */
  for (int i = 0; i < n; i++) twice += seen[index_of[i] % 8]++ > 0;                /* @serial */
  for (int i = 0; i < n; i++) { bins[i % 8] += i; sum += bins[(i + 1) % 8]; }      /* @serial */
  for (int i = 1; i < n; i++) prefix[i] += prefix[i - 1];                          /* @serial */
  for (int i = 0; i < n; i++) seen[index_of[i] % 8] = seen[index_of[i] % 8] / 2 + i; /* @serial */
  for (int i = 0; i < 8; i++) sum += count[i] + bins[i] + most[i] + seen[i] + pairs[2][i]; /* @clauses */
  free(bins);
  return sum + twice;
}

static int lists(int n) {
  struct node *head = NULL;
  int sum = 0;
  for (int i = 0; i < n; i++) {                                                    /* @serial */
    struct node *node = malloc(sizeof *node);
    node->value = i, node->next = head, head = node;
  }
  for (struct node *at = head; at; at = at->next) sum += at->value;                /* @serial */
  while (head) { struct node *next = head->next; free(head); head = next; }        /* @serial */
  return sum;
}

static unsigned words(void) {
  char text[] = "some words to be counted", copy[64], *word;
  unsigned hash = 5381, count = 0;
  for (int i = 0; text[i]; i++) copy[i] = text[i] ^ 32;                            /* @serial */
  for (char *p = text; *p; p++) hash = hash * 33 + (unsigned char)*p;              /* @serial */
  for (word = strtok(text, " "); word; word = strtok(NULL, " ")) count++;          /* @serial */
  return hash + count + copy[0];
}

static double in_place(int n) {
  double old = data[0], last = 0, k = 0;
  for (int i = 1; i < n; i++) { double now = data[i]; data[i] = (old + now) / 2; old = now; } /* @serial */
  for (int i = 0; i < n; i++) { last = data[i] * 2; other[i] = last; }             /* @clauses */
  for (int i = 0; i < n; i++) { other[i] = k; k += 0.5; }                          /* @serial */
  for (int t = 0; t < 3; t++) {                                                    /* @serial */
    for (int i = 1; i < n - 1; i++) other[i] = data[i - 1] + data[i + 1];          /* @parallel */
    for (int i = 1; i < n - 1; i++) data[i] = other[i];                            /* @parallel */
  }
  return last + old;
}

int main(void) {
  for (int i = 0; i < N; i++) { data[i] = i % 7; index_of[i] = i * 3 % 29; all.x[i] = i; array[i].v = i; } /* @parallel */
  double result = pointers(data, other, N) + gotos(N) + structures(N) + variable_length(12, 20) + tables(N) + lists(N);
  result += words() + in_place(N) + elements(N);
  for (int i = 0; i < 3; i++) printf("%d\n", prefix[i]);                           /* @serial */
  printf("%g\n", result);
  return 0;
}
