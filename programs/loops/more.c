/* Loops over memory of the stack, text, tables and structures. A label says what a careful reader finds: parallel, clauses, serial. */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N 48
typedef struct { double x, y; int kind; char tag; } point;
static point points[N], moved[N];
static double a[N + 2], b[N + 2], grid[N][N];
static int keys[N], counts[8], first[N], link[N];
static unsigned char bytes[8 * N];
static uint64_t bits[N];
static char words[N][12];

static void stack(int n) {
  for (int i = 1; i < n; i++) { /* @parallel */
    double row[i];
    for (int j = 0; j < i; j++) row[j] = j; /* @parallel */
    a[i] = row[i / 2];
  }
  for (int i = 1; i < n; i++) { /* @parallel */
    int *row = alloca(i * sizeof *row);
    for (int j = 0; j < i; j++) row[j] = i - j; /* @parallel */
    keys[i] = row[i - 1];
  }
  double own[n], sums[4];
  for (int i = 0; i < n; i++) own[i] = i; /* @parallel */
  for (int i = 1; i < n; i++) own[i] += own[i - 1]; /* @serial */
  for (int i = 0; i < n; i++) { /* @clauses */
    for (int k = 0; k < 4; k++) sums[k] = own[i] * k; /* @parallel */
    b[i] = sums[1] + sums[3];
  }
}

static void structures(void) {
  for (int i = 0; i < N; i++) { points[i].x = i; points[i].y = -i; points[i].kind = i % 3; points[i].tag = 'a'; } /* @parallel */
  for (int i = 0; i < N; i++) moved[i] = points[i]; /* @parallel */
  for (int i = 1; i < N; i++) points[i] = points[i - 1]; /* @serial */
  for (int i = 1; i < N; i++) points[i].x = points[i - 1].y; /* @parallel */
  for (int i = 0; i < N; i++) { point p = moved[i]; p.x += 1; moved[i] = p; } /* @parallel */
  point last;
  for (int i = 0; i < N; i++) { last = moved[i]; a[i] = last.x + last.y; } /* @clauses */
  for (int i = 0; i < N; i++) moved[i].tag++; /* @parallel */
  for (int i = 0; i < N; i++) memcpy(&points[i], &moved[N - 1 - i], sizeof(point)); /* @parallel */
}

static void overlays(void) {
  for (int i = 0; i < N; i++) memcpy(bytes + 8 * i, &a[i], 8); /* @parallel */
  for (int i = 0; i < N - 1; i++) memcpy(bytes + 4 * i, bytes + 4 * i + 4, 4); /* @serial */
  for (int i = 0; i < N; i++) bits[i] = 0; /* @parallel */
  for (int i = 0; i < 64 * 8; i++) bits[i / 64] |= (uint64_t)(i % 3 == 0) << i % 64; /* @clauses */
  for (int i = 0; i < N; i++) ((uint32_t *)bits)[2 * i] ^= 0xffff; /* @parallel */
  for (int i = 0; i < N - 1; i++) *(uint16_t *)(bytes + 2 * i) = bytes[2 * i + 2]; /* @serial */
  for (int i = 0; i < N; i++) *(uint16_t *)(bytes + 4 * i) = bytes[4 * i + 2]; /* @parallel */
}

static void tables(void) {
  for (int i = 0; i < N; i++) counts[keys[i] & 7]++; /* @clauses */
  int fill = 0;
  for (int i = 0; i < N; i++) if (keys[i] & 1) first[fill++] = i; /* @serial */
  int head = -1;
  for (int i = 0; i < N; i++) { link[i] = head; head = i; } /* @serial */
  int sum = 0;
  for (int at = head; at >= 0; at = link[at]) sum += keys[at]; /* @serial */
  int even = 0, odd = 0;
  for (int i = 0; i < N; i++) if (keys[i] % 2) odd += keys[i]; else even++; /* @clauses */
  int any = 0;
  for (int i = 0; i < N; i++) any |= keys[i] == 7; /* @clauses */
  unsigned hash = 17;
  for (int i = 0; i < N; i++) hash = hash * 31 + keys[i]; /* @serial */
  for (int i = 0; i < 8; i++) counts[i] = 0; /* @parallel */
  int previous = 0;
  for (int i = 0; i < N; i++) { first[i] = keys[i] - previous; previous = keys[i]; } /* @serial */
  first[0] += sum + even + odd + any + (int)hash + fill;
}

static void text(void) {
  for (int i = 0; i < N; i++) { words[i][0] = 'a' + i % 26; words[i][1] = 0; } /* @parallel */
  size_t longest = 0;
  for (int i = 0; i < N; i++) { size_t length = strlen(words[i]); if (length > longest) longest = length; } /* @clauses */
  for (int i = 1; i < N; i++) words[i][1] = words[i - 1][0]; /* @parallel */
  for (int i = 1; i < N; i++) words[i][0] = words[i - 1][0] + 1; /* @serial */
  for (int i = 0; i < N; i++) a[i] += longest; /* @parallel */
}

static void blocks(void) {
  for (int block = 0; block < N; block += 8) /* @parallel */
    for (int i = block; i < block + 8; i++) /* @parallel */
      for (int j = 0; j < N; j++) grid[i][j] = i * j; /* @parallel */
  for (int block = 0; block < N; block += 8) { /* @parallel */
    double carry = 0;
    for (int i = block; i < block + 8; i++) { carry += b[i]; a[i] = carry; } /* @serial */
  }
  for (int i = 1; i < N; i++) /* @serial */
    for (int j = 0; j < N - 1; j++) grid[i][j] += grid[i - 1][j + 1]; /* @parallel */
  for (int k = 1; k < 2 * N - 2; k++) { /* @serial */
    int low = k < N ? 1 : k - N + 2, high = k < N ? k : N - 1;
    for (int i = low; i < high; i++) grid[i][k - i] += grid[i - 1][k - i] + grid[i][k - i - 1]; /* @parallel */
  }
  for (int t = 0; t < 3; t++) /* @serial */
    for (int half = 0; half < 2; half++) /* @serial */
      for (int i = 1 + half; i < N; i += 2) a[i] = 0.5 * (a[i - 1] + a[i + 1]); /* @parallel */
}

int main(void) {
  stack(30);
  structures();
  overlays();
  tables();
  text();
  blocks();
  double s = 0;
  for (int i = 0; i < N; i++) s += a[i] + b[i] + points[i].x + moved[i].tag + first[i] + bytes[i] + bits[i] % 7 + grid[i][N - 1 - i]; /* @clauses */
  printf("%g %s\n", s, words[5]);
  return 0;
}
