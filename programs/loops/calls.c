/* Loops with calls: output, state, lists, recursion, heap. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N 40
struct node { int value; struct node *next; };
static double a[N], b[N];
static int counter, memo[N], stack[N], top;
static double state;

static double square(double x) { return x * x; }
static int next(void) { return ++counter; }
static void add(double *to, double x) { *to += x; }
static void put(int i, double x) { b[i] = x; }
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int fast(int n) { if (n < 2) return n; if (memo[n]) return memo[n]; return memo[n] = fast(n - 1) + fast(n - 2); }
static double step(double x) { state = state * 0.5 + x; return state; }
static double work(double x) { double t[6]; for (int i = 0; i < 6; i++) t[i] = x + i; return t[2] * t[5]; }
static void push(int x) { stack[top++] = x; }
static void touch(double *x) { x[0] = x[1]; }
static double pure(double x) { static const double table[3] = {1, 2, 3}; return table[(int)x % 3]; }

static void printing(FILE *file) {
  char line[64];
  for (int i = 0; i < N; i++) fprintf(file, "%d\n", i); /* @serial */
  for (int i = 0; i < N; i++) { b[i] = a[i]; if (i == 500) printf("never\n"); } /* @parallel */
  for (int i = 0; i < N; i++) { b[i] = a[i]; if (i % 10 == 0) fputs("x", file); } /* @serial */
  for (int i = 0; i < N; i++) fputc('a' + i % 26, file); /* @serial */
  rewind(file);
  for (int i = 0; i < 10; i++) if (fgets(line, sizeof line, file)) a[i] = atoi(line); /* @serial */
  int c;
  while ((c = fgetc(file)) != EOF) b[c % N] = c; /* @serial */
  for (int i = 0; i < N; i++) { char own[32]; snprintf(own, sizeof own, "%d", i); b[i] = strlen(own); } /* @parallel */
  for (int i = 0; i < N; i++) { snprintf(line, sizeof line, "%d", i); b[i] = line[0]; } /* @clauses */
  for (int i = 0; i < 5; i++) putchar('.'); /* @serial */
  puts("");
}

static void calling(void) {
  double s = 0, *cell[N];
  for (int i = 0; i < N; i++) b[i] = square(a[i]); /* @parallel */
  for (int i = 0; i < N; i++) b[i] = sin(a[i]) + sqrt(fabs(a[i])); /* @parallel */
  for (int i = 0; i < N; i++) put(i, a[i]); /* @parallel */
  for (int i = 0; i < N; i++) b[i] = fib(i % 8); /* @parallel */
  for (int i = 0; i < N; i++) b[i] = work(a[i]); /* @parallel */
  for (int i = 0; i < N; i++) b[i] = pure(i); /* @parallel */
  for (int i = 0; i < N; i++) s += square(a[i]); /* @clauses */
  for (int i = 0; i < N; i++) b[i] = next(); /* @serial */
  for (int i = 0; i < N; i++) b[i] = step(a[i]); /* @serial */
  for (int i = 0; i < 20; i++) b[i] = fast(i); /* @serial */
  for (int i = 0; i < N; i++) push(i); /* @serial */
  for (int i = 0; i < N - 1; i++) touch(b + i); /* @serial */
  for (int i = 0; i < N; i++) b[i] = rand() % 10; /* @serial */
  for (int i = 0; i < N; i++) { cell[i] = malloc(sizeof(double)); *cell[i] = i; } /* @parallel */
  for (int i = 0; i < N; i++) *cell[i] += 1; /* @parallel */
  for (int i = 0; i < N; i++) free(cell[i]); /* @parallel */
  for (int i = 0; i < N; i++) { double *t = malloc(4 * sizeof *t); t[1] = a[i]; t[2] = t[1]; b[i] = t[2]; free(t); } /* @parallel */
  for (int i = 0; i < N; i++) { double *t = calloc(4, sizeof *t); t[0] += a[i]; b[i] = t[0]; free(t); } /* @parallel */
  char name[8] = "abcdefg", other[N][8];
  for (int i = 0; i < N; i++) strcpy(other[i], name); /* @parallel */
  for (int i = 0; i < N; i++) memcpy(other[i], name, 8); /* @parallel */
  for (int i = 1; i < N; i++) memcpy(other[i], other[i - 1], 8); /* @serial */
  for (int i = 0; i < N; i++) memset(other[i], i, 8); /* @parallel */
  char all[256] = "";
  for (int i = 0; i < N; i++) strcat(all, "x"); /* @serial */
  char words[] = "a b c d e";
  for (char *w = strtok(words, " "); w; w = strtok(NULL, " ")) s += *w; /* @serial */
  printf("%g %zu\n", s, strlen(all));
}

static void lists(void) {
  struct node *head = NULL, *at;
  int sum = 0, n = 0;
  for (int i = 0; i < N; i++) { struct node *new = malloc(sizeof *new); new->value = i; new->next = head; head = new; } /* @serial */
  for (at = head; at; at = at->next) at->value *= 2; /* @serial */
  for (at = head; at; at = at->next) sum += at->value; /* @serial */
  while (head) { at = head->next; free(head); head = at; n++; } /* @serial */
  printf("%d %d\n", sum, n);
}

static void sorting(void) {
  int v[N];
  for (int i = 0; i < N; i++) v[i] = (i * 17) % N; /* @parallel */
  for (int i = 0; i < N; i++) /* @serial */
    for (int j = 0; j + 1 < N - i; j++) /* @serial */
      if (v[j] > v[j + 1]) { int t = v[j]; v[j] = v[j + 1]; v[j + 1] = t; }
  for (int i = 1; i < N; i++) { /* @serial */
    int x = v[i], j = i;
    while (j > 0 && v[j - 1] > x) { v[j] = v[j - 1]; j--; }
    v[j] = x;
  }
  int lo = 0, hi = N;
  while (lo < hi) { int mid = (lo + hi) / 2; if (v[mid] < 20) lo = mid + 1; else hi = mid; } /* @serial */
  for (int i = 0; i < N; i++) b[i] = v[i]; /* @parallel */
  double sum = 0;
  for (int i = 0; i < N; i++) add(&sum, b[i]); /* @clauses */
  printf("%d %g\n", lo, sum);
}

int main(void) {
  for (int i = 0; i < N; i++) a[i] = i % 7;
  FILE *file = tmpfile();
  printing(file);
  fclose(file);
  calling(); lists(); sorting();
  double s = 0;
  for (int i = 0; i < N; i++) s += b[i] + stack[i];
  printf("%g\n", s);
  return 0;
}
