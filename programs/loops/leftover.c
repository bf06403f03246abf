/* What is left over of several iterations, where an output argument, an element, a member or a called function holds it; and whoever knows
   that a greater value has been found. The last iteration writes, too: it need not on other inputs. Labels as in arrays.c. */
#include <stdio.h>
enum { N = 40, M = 6 };
struct result { int at; double value; int count; };
static int data[N], out[N], marked[M][M];
static void search(const int *v, int key, int *at) {
  for (int i = 0; i < N; i++) if (v[i] == key) *at = i;                  /* @serial */
}
static void note(const int *v, int key, struct result *r) {
  for (int i = 0; i < N; i++) if (v[i] == key) { r->at = i; r->value = v[i] * 0.5; } /* @serial */
}
static void has(const int *v, int key, int *found) {
  for (int i = 0; i < N; i++) if (v[i] == key) *found = 1;               /* @clauses */
}
static void place(int m[M][M], int *x, int *y) {
  for (int i = 0; i < M; i++)                                            /* @serial */
    for (int j = 0; j < M; j++)                                          /* @serial */
      if (m[i][j] == 7) { *x = i; *y = j; }
}
static void rows(int m[M][M], int *last) {
  for (int i = 0; i < M; i++)                                            /* @parallel */
    for (int j = 0; j < M; j++)                                          /* @serial */
      if (m[i][j] % 3 == 1) last[i] = j;
}
static int sign(const int *v, int *w) {
  for (int i = 0; i < N; i++) { if (i % 2) *w = v[i]; else *w = -v[i]; } /* @clauses */
  return *w;
}
static void count(const int *v, struct result *r) {
  for (int i = 0; i < N; i++) if (v[i] > 3) r->count++;                  /* @clauses */
}
static void put(int *to, int x) { if (x > 3) *to = x; }
static void set(int *to, int x) { *to = x; }
/* The last of those that are great enough, and of all. */
static int last(void) {
  int a = 0, b = 0, c = 0, d = 0, two[2] = { 0, 0 }, *p = &c;
  struct result r = { 0, 0, 0 }, *q = &r;
  for (int i = 0; i < N; i++) put(&a, data[i]);                          /* @serial */
  for (int i = 0; i < N; i++) set(&b, data[i]);                          /* @clauses */
  for (int i = 0; i < N; i++) if (data[i] > 3) *p = data[i];             /* @serial */
  for (int i = 0; i < N; i++) if (data[i] > 3) two[1] = data[i];         /* @serial */
  for (int i = 0; i < N; i++) if (data[i] > 3) q->at = data[i];          /* @serial */
  for (int i = 0; i < N; i++) q->value = data[i];                        /* @clauses */
  p = &d;
  for (int i = 0; i < N; i++) if (i == 17) *p = i;                       /* @serial */
  for (int i = 0; i < N; i++) if (data[i] == 99) two[0] = i;             /* @serial */
  return a + b + c + d + two[0] + two[1] + r.at + (int)r.value;
}
/* Who knows that a greater value has been found waits for the iterations before. */
static int known(const int *v) {
  int most = -1, times = 0;
  for (int i = 0; i < N; i++) if (v[i] > most) { most = v[i]; times++; } /* @serial */
  int greatest = -1, others = 0;
  for (int i = 0; i < N; i++) { if (v[i] > greatest) greatest = v[i]; else others += i; } /* @serial */
  int first = -1, second = -1;
  for (int i = 0; i < N; i++) { if (v[i] > first) first = v[i]; else if (v[i] > second) second = v[i]; } /* @serial */
  int high = -1, low = -1;
  for (int i = 0; i < N; i++) { if (v[i] > high) { low = high; high = v[i]; } else if (v[i] > low) low = v[i]; } /* @serial */
  int up = -1, sum = 0;
  for (int i = 0; i < N; i++) { if (v[i] > up) { up = v[i]; continue; } sum += v[i]; } /* @serial */
  int lo = v[0], hi = v[0], all = 0;
  for (int i = 0; i < N; i++) { if (v[i] > hi) hi = v[i]; if (v[i] < lo) lo = v[i]; all += v[i]; } /* @clauses */
  int top = -1;
  for (int i = 0; i < N; i++) { if (v[i] <= top) continue; top = v[i]; } /* @clauses */
  double peak = 0;
  for (int i = 0; i < N; i++) { double x = v[i] * 0.5; out[i] = x > 2; if (x > peak) peak = x; } /* @clauses */
  return most + times + greatest + others + first + second + high + low + up + sum + lo + hi + all + top + (int)peak;
}
/* The greatest number is that of the variable's type: not if it is narrower, or compared with another sign. */
static int compared(const int *v) {
  signed char narrow = -100;
  int other = 0, cut = 0, least = 100;
  unsigned high = 0;
  unsigned char byte = 0;
  short most = -1;
  for (int i = 0; i < N; i++) narrow = v[i] > narrow ? v[i] : narrow;    /* @serial */
  for (int i = 0; i < N; i++) if ((unsigned)v[i] > (unsigned)other) other = v[i]; /* @serial */
  for (int i = 0; i < N; i++) if ((signed char)v[i] > cut) cut = v[i];   /* @serial */
  for (int i = 0; i < N; i++) least = (unsigned)v[i] < (unsigned)least ? v[i] : least; /* @serial */
  for (int i = 0; i < N; i++) if (v[i] > byte) byte = v[i];              /* @serial */
  for (int i = 0; i < N; i++) if ((unsigned)v[i] > high) high = v[i];    /* @clauses */
  for (int i = 0; i < N; i++) { short x = v[i] * 300; if (x > most) most = x; } /* @clauses */
  for (int i = 0; i < N; i++) { short x = v[i] * 300; most = x > most ? x : most; } /* @clauses */
  return narrow + other + cut + least + (int)high + byte + most;
}
/* So it is with members, elements and what pointers reach. */
struct range { double scale; struct { int low, high; } of; unsigned most; char letter; int each[3]; };
static struct range ranges[4];
static int compared_members(const int *v, struct range *r, int *at) {
  for (int i = 0; i < N; i++) if ((unsigned)v[i] > (unsigned)r->of.high) r->of.high = v[i]; /* @serial */
  for (int i = 0; i < N; i++) if (v[i] > r->of.low) r->of.low = v[i];     /* @clauses */
  for (int i = 0; i < N; i++) if ((unsigned)v[i] > r->most) r->most = v[i]; /* @clauses */
  r->most = 0;
  for (int i = 0; i < N; i++) if (v[i] > (int)r->most) r->most = v[i];   /* @serial */
  for (int i = 0; i < N; i++) if ((unsigned)v[i] > (unsigned)ranges[2].each[1]) ranges[2].each[1] = v[i]; /* @serial */
  for (int i = 0; i < N; i++) if (v[i] > ranges[1].each[2]) ranges[1].each[2] = v[i]; /* @clauses */
  for (int i = 0; i < N; i++) if ((unsigned)v[i] > (unsigned)r->each[0]) r->each[0] = v[i]; /* @serial */
  for (int i = 0; i < N; i++) if ((unsigned)v[i] > (unsigned)at[1]) at[1] = v[i]; /* @serial */
  for (int i = 0; i < N; i++) if (v[i] > at[2]) at[2] = v[i];            /* @clauses */
  for (int i = 0; i < N; i++) { char x = (char)v[i]; if (x > r->letter) r->letter = x; } /* @clauses */
  r->letter = -3;
  for (int i = 0; i < N; i++) { char x = (char)(v[i] - 5); if (((unsigned)x & 255) > ((unsigned)r->letter & 255)) r->letter = x; } /* @serial */
  return r->of.high + r->of.low + (int)r->most + ranges[2].each[1] + ranges[1].each[2] + r->each[0] + at[1] + at[2] + r->letter;
}
/* A sum keeps all bits of its variable; a truth value has one, and no sum. */
static int bits(const int *v) {
  int low = 0;
  unsigned char small = 0;
  _Bool odd = 0, differs = 0, any = 0, counted = 0;
  for (int i = 0; i < N; i++) low = (unsigned char)(low + v[i]);         /* @serial */
  for (int i = 0; i < N; i++) odd ^= v[i];                               /* @serial */
  for (int i = 0; i < N; i++) counted -= v[i] & 1;                       /* @serial */
  for (int i = 0; i < N; i++) differs ^= v[i] > 3;                       /* @clauses */
  for (int i = 0; i < N; i++) small += v[i];                             /* @clauses */
  for (int i = 0; i < N; i++) any |= v[i];                               /* @clauses */
  return low + small + odd + differs + any + counted;
}
int main(void) {
  int at = -1, found = 0, x = 0, y = 0, w = 0, at_ends[M] = { 0 };
  struct result r = { 0, 0, 0 };
  for (int i = 0; i < N; i++) data[i] = (i * 7) % 11;                    /* @parallel */
  for (int i = 0; i < M; i++) for (int j = 0; j < M; j++) marked[i][j] = i * 2 + j; /* @parallel */
  data[20] = 99;
  marked[1][1] = marked[3][1] = 8;
  marked[1][5] = 9;
  search(data, 99, &at);
  note(data, 99, &r);
  has(data, 99, &found);
  place(marked, &x, &y);
  rows(marked, at_ends);
  count(data, &r);
  int sum = sign(data, &w) + last() + known(data) + compared(data) + bits(data);
  int places[3] = { -1, 0, -1 };
  sum += compared_members(data, &ranges[3], places);
  printf("%d %d %d %d %d %d %d %f %d %d\n", at, found, x, y, w, at_ends[3], r.at, r.value, r.count, sum + out[5]);
  return 0;
}
