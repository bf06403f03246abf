// Loops that exceptions leave, and loops in which they are caught; texts that the library reads; packed bits. Labels as in arrays.c.
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

enum { N = 40 };
struct Error {};

static int half(int v) { if (v == 33) throw Error(); return v / 2; }
static int third(int v) { if (v < 0) throw Error(); return v / 3; }
static void fill(const int *a, int *b) { for (int i = 0; i < N; i++) b[i] = half(a[i]); }         // @serial
static int careful(int v) { try { return half(v); } catch (Error &) { return -1; } }

static int thrown(const int *a, int *b) {
  int bad = 0;
  std::vector<int> v(N / 2), w(N, 1);
  std::map<int, int> known;
  try { for (int i = 0; i < N; i++) b[i] = half(a[i]); } catch (Error &) { bad++; }               // @serial
  try { for (int i = 0; i < N; i++) { if (a[i] == 60) throw 1; b[i] = a[i]; } } catch (int) { bad++; } // @serial
  try { fill(a, b); } catch (Error &) { bad++; }
  try { for (int i = 0; i < N; i++) b[i] += v.at(i); } catch (...) { bad++; }                     // @serial
  for (int i = 0; i < N / 2; i++) known[i] = i;
  try { for (int i = 0; i < N; i++) b[i] += known.at(i); } catch (...) { bad++; }                 // @serial
  try { for (int i = 0; i < N; i++) for (int k = 0; k < 3; k++) b[i] += half(a[i]); } catch (Error &) { bad++; } // @serial
  for (int i = 0; i < N; i++) {                                                                   // @parallel
    try { b[i] = half(a[i]); } catch (Error &) { b[i] = -1; }
  }
  for (int i = 0; i < N; i++) b[i] += careful(a[i]);                                              // @parallel
  try { for (int i = 0; i < N; i++) b[i] += third(a[i]); } catch (Error &) { bad++; }             // @parallel
  try { for (int i = 0; i < N; i++) b[i] += w.at(i); half(33); } catch (Error &) { bad++; }       // @parallel
  for (int k = 0; k < 4; k++) {                                                                   // @parallel
    try {
      for (int i = 0; i < N / 4; i++) b[k * N / 4 + i] = half(a[i * 4]);                          // @parallel
      if (k % 2 == 1) throw Error();
    } catch (Error &) { b[k * N / 4] = k; }
  }
  return bad;
}

static std::string texts(const int *a) {
  char b[16] = "", c[16] = "", d[16] = "", e[16] = "";
  char names[N][8];
  std::string s, t;
  for (int i = 0; i < N; i++) snprintf(names[i], sizeof names[i], "n%d", i);                      // @parallel
  for (int i = 0; i < N; i++) if (a[i] % 5 == 0) strcpy(b + 1, names[i]);                         // @serial
  b[0] = 'x';
  std::cout << b << '\n';
  for (int i = 0; i < N; i++) if (a[i] % 5 == 0) strcpy(c + 1, names[i]);                         // @serial
  c[0] = 'x';
  s += c;
  for (int i = 0; i < N; i++) if (a[i] % 5 == 0) strcpy(d + 1, names[i]);                         // @serial
  d[0] = 'x';
  std::cout.write(d, 8);
  for (int i = 0; i < N; i++) if (a[i] % 5 == 0) strcpy(e + 1, names[i]);                         // @serial
  e[0] = 'x';
  t.assign(e);
  return s + t;
}

static int bits(const int *a, std::vector<bool> &v) {
  int sum = 0;
  for (int i = 0; i < (int)v.size(); i++) v[i].flip();                                            // @serial
  for (int i = 0; i < (int)v.size(); i++) v[i] = a[i % N] > 50;                                   // @serial
  for (bool x : v) sum += x;                                                                      // @clauses
  return sum;
}

int main() {
  int a[N], b[N] = {0};
  for (int i = 0; i < N; i++) a[i] = i * 3;                                                       // @parallel
  int bad = thrown(a, b);
  std::vector<bool> v(300);
  int sum = bits(a, v);
  std::string s = texts(a);
  printf("%d %d %d %d %s\n", bad, b[10], b[20], sum, s.c_str());
}
