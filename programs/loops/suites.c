/* Loops of the shapes that public suites label: text, time steps, sparse rows, queues, bits. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 48
static double x[N], y[N], grid[N][N], next[N][N];
static int row[N + 1], column[N], head, queue[N], bits[N], seen[N];
static char text[N + 16], words[N][16];

static void texts(void) {
  size_t length[N], all = 0;
  for (int i = 0; i < N; i++) { words[i][0] = 'a' + i % 26; words[i][1] = 'b'; words[i][2] = 0; } /* @parallel */
  for (int i = 0; i < N; i++) length[i] = strlen(words[i]); /* @parallel */
  for (int i = 0; i < N; i++) all += strlen(words[i]); /* @clauses */
  memset(text, 'x', N);
  for (int i = 0; i < N; i++) { length[i] = strlen(text); text[N - 1 - i] = 0; } /* @serial */
  memset(text, 'x', N);
  for (int i = 1; i < N; i++) { text[i] = 'y'; length[i] = strchr(text, 'x') - text; } /* @serial */
  for (int i = 0; i < N; i++) text[i] = toupper(text[i]); /* @parallel */
  for (int i = 1; i < N; i++) text[i] = text[i - 1] == 'A' ? 'B' : 'A'; /* @serial */
  for (int i = 0; i < N; i++) seen[i] = strcmp(words[i], words[(i + 1) % N]) < 0; /* @parallel */
  x[0] = all + length[1];
}

static void numbers(int n, int stride) {
  double own[4], s = 0, hi = -1, lo = 1e9;
  int where = 0, up = 0;
  for (int i = 0; i < n; i++) for (int j = row[i]; j < row[i + 1]; j++) y[i] += x[column[j]]; /* @parallel */
  for (int i = 0; i < n; i++) if (x[i] > hi) { hi = x[i]; where = i; } /* @serial */
  for (int i = 0; i < n; i++) lo = x[i] < lo ? x[i] : lo; /* @clauses */
  for (int i = 0; i < n; i++) { for (int k = 0; k < 4; k++) own[k] = x[i] + k; y[i] = own[0] * own[3]; } /* @clauses */
  for (int i = 0; i < n / 2; i++) x[i] = x[n - 1 - i]; /* @parallel */
  for (int i = 0; i < n; i++) x[i] = x[n - 1 - i]; /* @serial */
  for (int i = 0; i < n - 4; i++) x[i + 4] = x[i] + 1; /* @serial */
  for (int i = 0; i < n; i += 2) x[i + 1] = x[i]; /* @parallel */
  for (int i = 0; i < n; i++) { y[up] = i; up += 1; } /* @clauses */
  for (int i = 0; i < n; i++) if (i % 3 == 0) y[head++] = i; /* @serial */
  for (int i = 0; i < n; i++) s = s * 0.5 + x[i]; /* @serial */
  for (int i = 0; i < n; i++) bits[i % 4] |= 1 << (i % 8); /* @clauses */
  for (int i = 0; i < n; i++) y[i * stride % n] = i; /* @parallel */
  for (int i = 0; i < n; i++) queue[i] = queue[queue[i] % n] + 1; /* @serial */
  for (int t = 0; t < 3; t++) { /* @serial */
    for (int i = 1; i < n - 1; i++) /* @parallel */
      for (int j = 1; j < n - 1; j++) /* @parallel */
        next[i][j] = grid[i - 1][j] + grid[i + 1][j];
    memcpy(grid, next, sizeof grid);
  }
  for (int i = 1; i < n; i++) /* @serial */
    for (int j = 1; j < n; j++) /* @serial */
      grid[i][j] = grid[i - 1][j] + grid[i][j - 1];
  y[1] = s + hi + lo + where;
}

int main(void) {
  for (int i = 0; i <= N; i++) row[i] = i; /* @parallel */
  for (int i = 0; i < N; i++) { column[i] = (i * 7) % N; queue[i] = (i * 5 + 1) % N; x[i] = i % 9; } /* @parallel */
  texts();
  numbers(N, 5);
  printf("%g %g %d\n", x[0], y[1], bits[0] + seen[3]);
  return 0;
}
