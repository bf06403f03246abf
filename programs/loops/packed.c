/* Counters that inner loops increment: packing, rows of a sparse matrix, histograms with offsets. Labels as in arrays.c. */
#include <stdio.h>
#include <stdlib.h>
enum { N = 40, M = 12 };
static int grid[N][M], packed[N * M], start[N + 1], cols[N * M], bucket[16], place[N * M], order[N * M], key[N * M];
int main(void) {
  for (int i = 0; i < N; i++)                                        /* @parallel */
    for (int j = 0; j < M; j++) grid[i][j] = (i * 7 + j * 3) % 5;    /* @parallel */
  int k = 0;
  for (int i = 0; i < N; i++)                                        /* @serial */
    for (int j = 0; j < M; j++)                                      /* @serial */
      if (grid[i][j]) packed[k++] = grid[i][j];
  int all = 0;
  for (int i = 0; i < N; i++)                                        /* @clauses */
    for (int j = 0; j < M; j++) { packed[all] = grid[i][j]; all++; } /* @clauses */
  int nnz = 0;
  for (int i = 0; i < N; i++) {                                      /* @serial */
    start[i] = nnz;
    for (int j = 0; j < M; j++) if (grid[i][j] > 2) cols[nnz++] = j; /* @serial */
  }
  start[N] = nnz;
  for (int i = 0; i < all; i++) key[i] = packed[i] % 16;             /* @parallel */
  for (int i = 0; i < all; i++) bucket[key[i]]++;                    /* @clauses */
  int sum = 0;
  for (int b = 0; b < 16; b++) { int c = bucket[b]; bucket[b] = sum; sum += c; }  /* @serial */
  for (int i = 0; i < all; i++) { place[i] = bucket[key[i]]++; }     /* @serial */
  for (int i = 0; i < all; i++) order[place[i]] = i;                 /* @parallel */
  long total = 0;
  for (int i = 0; i < N; i++)                                        /* @clauses */
    for (int e = start[i]; e < start[i + 1]; e++) total += cols[e] * i; /* @clauses */
  int evens = 0, odds = all;
  for (int i = 0; i < all; i++) { if (order[i] % 2) packed[--odds] = order[i]; else packed[evens++] = order[i]; } /* @serial */
  printf("%d %d %ld %d %d\n", k, nnz, total, evens, order[7]);
  return 0;
}
