/* Texts: scanning, words, numbers, output by a pointer that moves on. Labels as in arrays.c. */
#include <stdio.h>
#include <string.h>
#include <ctype.h>
#include <stdlib.h>
static const char text[] = "the quick brown fox 12 jumps over 345 lazy dogs, and 6 more of them; then the end.";
static char up[sizeof text], out[4 * sizeof text], rev[sizeof text], esc[4 * sizeof text];
static int count[256], words, lines[10];
static int is_vowel(char c) { return strchr("aeiou", c) != NULL; }
static char *emit(char *p, int n) { do *p++ = (char)('0' + n % 10); while (n /= 10); *p++ = ' '; return p; }   /* @serial */
int main(void) {
  int n = (int)strlen(text);
  for (int i = 0; text[i]; i++) up[i] = (char)toupper((unsigned char)text[i]);      /* @serial */
  for (const char *p = text; *p; p++) count[(unsigned char)*p]++;                   /* @serial */
  for (int i = 0; i < n; i++) count[(unsigned char)text[i]]++;                       /* @clauses */
  int in = 0;
  for (int i = 0; i < n; i++) { if (isalpha((unsigned char)text[i])) { if (!in) words++; in = 1; } else in = 0; }  /* @serial */
  char *o = out;
  for (int i = 0; i < n; i++) { if (text[i] == ',') { *o++ = ';'; *o++ = ' '; } else *o++ = text[i]; }   /* @serial */
  char *e = esc;
  for (int i = 0; i < n; i++) { *e++ = '['; *e++ = text[i]; *e++ = ']'; }             /* @clauses */
  for (int i = 0; i < n; i++) rev[n - 1 - i] = text[i];                               /* @parallel */
  unsigned hash = 5381;
  for (int i = 0; i < n; i++) hash = hash * 33 ^ (unsigned char)text[i];              /* @serial */
  unsigned crc = 0;
  for (int i = 0; i < n; i++) crc ^= (unsigned)text[i] << (i % 24);                   /* @clauses */
  int vowels = 0;
  for (int i = 0; i < n; i++) vowels += is_vowel(text[i]);                            /* @clauses */
  long value = 0, all = 0;
  for (int i = 0; i < n; i++) { if (isdigit((unsigned char)text[i])) value = value * 10 + text[i] - '0'; else { all += value; value = 0; } } /* @serial */
  char numbers[200], *p = numbers;
  for (int i = 0; i < 20; i++) p = emit(p, i * i);                                    /* @serial */
  *p = 0;
  char copy[sizeof text]; strcpy(copy, text);
  for (char *tok = strtok(copy, " "); tok; tok = strtok(NULL, " ")) lines[strlen(tok) % 10]++;   /* @serial */
  int bal = 0, worst = 0;
  for (int i = 0; i < n; i++) { bal += text[i] == 'o' ? 1 : text[i] == 'e' ? -1 : 0; if (bal < worst) worst = bal; } /* @serial */
  for (int i = 0, j = n - 1; i < j; i++, j--) { char c = rev[i]; rev[i] = rev[j]; rev[j] = c; }  /* @clauses */
  printf("%s %u %u %d %ld %s %d\n", up, hash, crc, vowels, all, numbers, worst + words);
  return 0;
}
