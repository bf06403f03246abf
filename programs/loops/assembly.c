// Assembly within loops: what it may do that its operands do not say, what they do say, and barriers that do nothing.
// Labels as in arrays.c.
#include <stdio.h>

#define N 100

#ifdef __x86_64__
#define ADD "addq %1, %0"
#define INCREMENT "incq %0"
#define INTO_MEMORY "addq %1, (%0)"
#else
#define ADD "ldr x9, %0\n\tadd x9, x9, %1\n\tstr x9, %0"
#define INCREMENT "ldr x9, %0\n\tadd x9, x9, #1\n\tstr x9, %0"
#define INTO_MEMORY "ldr x9, [%0]\n\tadd x9, x9, %1\n\tstr x9, [%0]"
#endif
#ifdef __x86_64__
#define USED "cc"
#else
#define USED "x9", "cc"
#endif

static long sum, other, a[N], b[N];

static void into_memory(long *where, long what) { __asm__ volatile(INTO_MEMORY : : "r"(where), "r"(what) : "memory", USED); }

int main(void) {
  for (long i = 0; i < N; i++) // @parallel
    a[i] = i;
  for (long i = 0; i < N; i++) // @serial
    __asm__ volatile(ADD : "+m"(sum) : "r"(a[i]) : USED);
  for (long i = 0; i < N; i++) // @serial
    __asm__ volatile(INTO_MEMORY : : "r"(&b[0]), "r"(i) : "memory", USED);
  for (long i = 0; i < N; i++) // @serial
    into_memory(&b[i / 2], i);
  for (long i = 0; i < N; i++) { // @serial
    __asm__(INTO_MEMORY : : "r"(&b[1]), "r"(i) : "memory", USED);
    a[i]++;
  }
  for (long i = 0; i < N; i++) // @serial
    __asm__(ADD : "+m"(sum) : "r"(a[i]) : USED);
  for (long i = 1; i < N; i++) // @serial
    __asm__(ADD : "+m"(a[i]) : "r"(a[i - 1]) : USED);
  for (long i = 0; i < N; i++) // @parallel
    __asm__(INCREMENT : "+m"(a[i]) : : USED);
  for (long i = 0; i < N; i++) { // @parallel
    long x = a[i];
    __asm__ volatile("" : "+r"(x));
    a[i] = x + 1;
  }
  for (long i = 0; i < N; i++) { // @parallel
    b[i] = a[i] * 2;
    __asm__ volatile("" : : : "memory");
  }
  for (long i = 0; i < N; i++) { // @clauses
    other += a[i];
    __asm__ volatile("# nothing" : : "r"(i) : "memory");
  }
  printf("%ld %ld %ld\n", sum, other, b[7]);
  return 0;
}
