/* State of library.c. */
#include "library_state.h"
static long total, weights[8];
int other_last;
void other_add(int x) { total += x; if (total > 100) weights[x & 7] = total; }
int other_get(void) { return total % 7; }
void other_set(int *a, int i) { a[i] = i * 2; }
void other_chain(int *a, int i) { a[i] += a[i - 1]; }
int other_read(void) { return other_last + 1; }
