// What a loop keeps for those who come after it, and what functions accumulate that it calls. Labels as in arrays.c.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define N 40

struct score { double most; int where, wins; };

static double in[N], out[N], level, line[6], sums[4], total, product = 1;
static int key[N], place[2], kind, seen_at = -1, slot;
static long mask;
static struct score top, *first = &top;
static struct { double sum; int calls; struct score of[2]; } book;

// The greatest value comes first: what is set beside it is written once.
static void extremes(void) {
  double best = 0;
  for (int i = 0; i < N; i++) // @serial
    if (in[i] > first->most) {
      first->most = in[i];
      first->where = i;
    }
  for (int i = 0; i < N; i++) // @serial
    if (in[i] > sums[0]) {
      sums[0] = in[i];
      place[0] = i;
    }
  for (int i = 0; i < N; i++) // @serial
    if (in[i] > book.of[1].most) {
      book.of[1].most = in[i];
      book.of[1].where = i;
    }
  for (int i = 0; i < N; i++) // @serial
    if (in[i] > best) {
      best = in[i];
      out[i] = -1;
    }
  best = 0;
  for (int i = 0; i < N; i++) { // @serial
    if (in[i] <= best) continue;
    best = in[i];
    key[i] = 7;
  }
  best = 0;
  for (int i = 0; i < N; i++) // @serial
    if (in[i] > best) {
      best = in[i];
      if (key[i] == 7) place[1] = i;
    }
  best = 0;
  for (int i = 0; i < N; i++) { // @clauses
    if (in[i] <= best) continue;
    best = in[i];
  }
  best = 0;
  for (int i = 0; i < N; i++) // @clauses
    if (sqrt(in[i]) > best) best = sqrt(in[i]);
  printf("%d %d %d %d %g\n", first->where, place[0], book.of[1].where, place[1], best);
}

// These are read when the function has returned.
static void set_each(void) {
  for (int i = 0; i < N; i++) // @clauses
    level = in[i];
}
static void set_some(void) {
  for (int i = 0; i < N; i++) // @serial
    if (key[i] == 3) level = in[i];
}
static void set_once(void) {
  for (int i = 0; i < N; i++) // @serial
    if (key[i] == 5) seen_at = i;
}
static void set_rows(void) {
  for (int i = 0; i < N; i++) { // @clauses
    for (int j = 0; j < 6; j++) line[j] = in[i] + j; // @parallel
    out[i] = line[5];
  }
}
static void look(int i) {
  if (key[i] == 5) kind = i;
}
static void mark(int i) { slot = i; }
static void use_slot(int i) {
  slot = i;
  out[slot] = 1;
}

static void kept(void) {
  set_each();
  printf("%g\n", level);
  set_some();
  printf("%g\n", level);
  set_once();
  set_rows();
  printf("%d %g\n", seen_at, line[2]);
  for (int i = 0; i < N; i++) // @serial
    look(i);
  for (int i = 0; i < N; i++) // @serial
    mark(i);
  printf("%d %d\n", kind, slot);
  for (int i = 0; i < N; i++) // @clauses
    use_slot(i);
  for (int i = 0; i < N; i++) // @serial
    if (key[i] == 5) top.wins = i;
  printf("%d\n", top.wins);
}

static void count(double x) { total += x; }
static void twice(double x) { count(x), count(2 * x); }
static double now(double x) { return total += x; }
static void watch(double x) {
  total += x;
  if (total > 30) out[0] = 1;
}
static void either(int i) {
  if (key[i] & 1) book.sum += 1; else book.sum -= 2;
}
static void other(int i) {
  if (key[i] & 1) book.sum += 1; else book.sum *= 2;
}
static void add_to(double *sum, double x) { *sum += x; }
static void grow(double *what, double by) { *what *= by; }
static void leaves(int depth, int *found) {
  if (depth == 0) { ++*found; return; }
  leaves(depth - 1, found), leaves(depth - 1, found);
}
static void set_bit(int i) { mask |= 1L << (i % 50); }
static int has_bit(int i) { return (int)(mask >> i & 1); }
static void count_and_use(int i) {
  count(in[i]);
  out[i] = total > 9;
}
static void begin_again(int i) {
  if (i == 1000) total = 0;
  total += in[i];
}

static void accumulated(void) {
  double sum = 0;
  int found = 0;
  for (int i = 0; i < N; i++) // @clauses
    count(in[i]);
  for (int i = 0; i < N; i++) // @clauses
    twice(in[i]);
  for (int i = 0; i < N; i++) // @serial
    out[i] = now(in[i]);
  for (int i = 0; i < N; i++) // @serial
    watch(in[i]);
  for (int i = 0; i < N; i++) // @clauses
    either(i);
  for (int i = 0; i < N; i++) // @serial
    other(i);
  for (int i = 0; i < N; i++) // @clauses
    add_to(&sum, in[i]);
  for (int i = 0; i < N; i++) { // @clauses
    sum += 1;
    add_to(&sum, in[i]);
  }
  for (int i = 0; i < N; i++) { // @serial
    sum *= 1.5;
    add_to(&sum, in[i]);
  }
  for (int i = 0; i < N; i++) { // @serial
    add_to(&sum, in[i]);
    grow(&sum, 1.01);
  }
  for (int i = 0; i < N; i++) // @clauses
    grow(&product, 1.01);
  for (int i = 0; i < N; i++) // @clauses
    add_to(&sums[key[i] % 4], 1);
  for (int i = 0; i < N; i++) { // @serial
    add_to(&sums[key[i] % 4], 1);
    out[i] = sums[0];
  }
  for (int i = 0; i < 5; i++) // @clauses
    leaves(i, &found);
  for (int i = 0; i < N; i++) // @clauses
    set_bit(key[i]);
  for (int i = 0; i < N; i++) { // @serial
    set_bit(i);
    key[i] = has_bit(30) ? 1 : key[i];
  }
  for (int i = 0; i < N; i++) // @serial
    count_and_use(i);
  for (int i = 0; i < N; i++) // @serial
    begin_again(i);
  printf("%g %g %g %g %d %ld\n", total, sum, product, book.sum + sums[1], found, mask);
}

// An array that called functions reach by a name of their own, and one that is declared in the loop.
static void fill(double *row, int i) {
  for (int j = 0; j < 6; j++) row[j] = i * j; // @parallel
}
static double middle(const double *row) { return row[2]; }
static void scratch(void) {
  for (int i = 0; i < N; i++) { // @clauses
    fill(line, i);
    out[i] = line[3];
  }
  for (int i = 0; i < N; i++) { // @clauses
    fill(line, i);
    out[i] += middle(line);
  }
  for (int i = 0; i < N; i++) { // @clauses
    static double own[6];
    for (int j = 0; j < 6; j++) own[j] = out[i] * j; // @parallel
    out[i] = own[5] - own[1];
  }
}

int main(void) {
  for (int i = 0; i < N; i++) { // @parallel
    in[i] = N - i;
    key[i] = i == 7 ? 5 : i % 4;
  }
  kept();
  extremes();
  accumulated();
  scratch();
  printf("%g\n", out[3]);
  return 0;
}
