// Texts that are written and copied: as far as the result or the text itself says, also by functions of the program that print.
// Labels as in arrays.c.
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#define N 20

static char names[N][16], rows[8 * N + 64], all[16 * N], copies[N][16];
static int used;

static void print(char *to, int room, const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(to, room, format, list);
  va_end(list);
}
static int print_all(char *to, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int length = vsprintf(to, format, list);
  va_end(list);
  return length;
}
static void add(const char *format, ...) {
  va_list list;
  va_start(list, format);
  used += vsnprintf(all + used, sizeof all - used, format, list);
  va_end(list);
}

int main(void) {
  int length = 0;
  for (int i = 0; i < N; i++) // @parallel
    print(names[i], sizeof names[i], "n%d", i);
  for (int i = 0; i < N; i++) // @parallel
    print(rows + 8 * i, 100, "%d", 1000 + i);
  for (int i = 0; i < N; i++) // @serial
    print(rows + 8 * i, 10, "123456789");
  for (int i = 1; i < N; i++) // @serial
    print(rows + 8 * i, 8, "%s", rows + 8 * i - 7);
  for (int i = 1; i < N; i++) // @serial
    print(names[i], 16, "%.9s+", names[i - 1]);
  for (int i = 0; i < N; i++) // @parallel
    print(copies[i], 16, "%s-%s", "a", names[i]);
  for (int i = 0; i < N; i++) // @serial
    print(copies[i / 2], 16, "%d", i);
  for (int i = 0; i < N; i++) // @serial
    add("%d,", i);
  for (int i = 0; i < N; i++) // @parallel
    print_all(names[i], "%d", i);
  for (int i = 0; i < N; i++) // @serial
    print_all(rows + 2 * i, "%d", 100 + i);
  for (int i = 0; i < N; i++) // @parallel
    sprintf(rows + 4 * i, "%d", 100 + i);
  for (int i = 0; i < N; i++) // @serial
    sprintf(rows + 4 * i, "%d", 1000 + i);
  for (int i = 0; i < N; i++) // @parallel
    strcpy(rows + 4 * i, "abc");
  for (int i = 0; i < N; i++) // @serial
    strcpy(rows + 4 * i, "abcd");
  for (int i = 1; i < N; i++) // @serial
    strcpy(copies[i], copies[i - 1]);
  for (int i = 0; i < N; i++) // @parallel
    strcat(copies[i], names[i]);
  for (int i = 1; i < N; i++) // @serial
    strcat(copies[i], copies[i - 1] + strlen(copies[i - 1]) - 1);
  for (int i = 0; i < N; i++) // @clauses
    length += strlen(names[i]);
  for (int i = 0; i < N; i++) // @parallel
    names[i][strlen(names[i])] = 'x';
  puts(all), puts(rows), puts(copies[3]);
  printf("%d\n", length);
  return 0;
}
