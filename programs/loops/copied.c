/* Arrays of which each iteration sets a part: with a copy for each thread, what is left over of the others must not be lost. Labels as in
   arrays.c. */
#include <stdio.h>
#include <string.h>
enum { N = 12 };
static int in[N], rows[N][8], out[N];
static void set(int *to, int value) { *to = value; }
static void add(int *to, int value) { *to += value; }
static int one_of_four(void) {
  int t[4];
  for (int j = 0; j < 4; j++) t[j] = j + 5;                        /* @parallel */
  for (int i = 0; i < N; i++) t[1] = i;                            /* @serial */
  return t[0] + t[1] + t[3];
}
static int beside_a_list(void) {
  int t[4] = {2, 1, 4, 7};
  for (int i = 0; i < N; i++) {                                    /* @serial */
    for (int k = 0; k < 3; k++) t[k] = i * k;                      /* @parallel */
  }
  int sum = 0;
  for (int j = 0; j < 4; j++) sum += t[j];                         /* @clauses */
  return sum;
}
static int added_and_set(void) {
  int h[20], sum = 0;
  for (int i = 0; i < 20; i++) h[i] = 100 + i;                     /* @parallel */
  for (int i = 0; i < N; i++) {                                    /* @serial */
    h[i % 3] += in[i];
    h[3 + i] = in[i];
  }
  for (int i = 0; i < 20; i++) sum = sum * 3 + h[i];               /* @serial */
  return sum;
}
static int set_and_updated(void) {
  int own[8], sum = 0;
  for (int i = 0; i < N; i++) {                                    /* @clauses */
    own[0] = i;
    own[0] += 2;
    out[i] = own[0];
  }
  for (int i = 0; i < N; i++) {                                    /* @clauses */
    memset(own, 0, sizeof own);
    for (int k = 0; k < 8; k++) own[k] += k * i;                   /* @parallel */
    sum += own[i % 8];
    memcpy(rows[i], own, sizeof own);
  }
  for (int i = 0; i < N; i++) {                                    /* @clauses */
    for (int k = 0; k < 8; k++) own[k] = 0;                        /* @parallel */
    own[i % 8] += 3;
    own[i % 8] += 5;
    for (int k = 0; k < 8; k++) sum += own[k];                     /* @clauses */
  }
  return sum;
}
static int before_it_is_set(void) {
  int own[2] = {1, 2}, sum = 0;
  for (int i = 0; i < N; i++) {                                    /* @serial */
    if (i % 3) own[0] = i;
    own[0] += 2;
    sum += own[0];
  }
  return sum;
}
static int given(void) {
  int t = 0, v = 0, sum = 0, other = 0;
  for (int i = 0; i < N; i++) {                                    /* @clauses */
    set(&v, i * 3);
    set(&t, i);
    out[i] += v;
  }
  for (int i = 0; i < N; i++) {                                    /* @clauses */
    add(&sum, in[i]);
    add(&other, out[i]);
  }
  for (int i = 0; i < N; i++) {                                    /* @serial */
    add(&sum, in[i]);
    set(&other, sum);
    rows[i][0] = other;
  }
  return t + v + sum + other;
}
int main(void) {
  for (int i = 0; i < N; i++) in[i] = i * 7 % 5;                   /* @parallel */
  printf("%d %d %d ", one_of_four(), beside_a_list(), added_and_set());
  printf("%d %d %d\n", set_and_updated(), before_it_is_set(), given());
  return 0;
}
