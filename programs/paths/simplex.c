// A main loop as in the network simplex method: each step takes the arc that the step before has left as the best one, so that steps follow
// one another. Within a step all arcs are priced, and all nodes below the new arc get another potential.
#include <stdio.h>
#define NODES 200
#define ARCS 1000
static int from[ARCS], to[ARCS], cost[ARCS], reduced[ARCS], below[NODES];
static long potential[NODES];

static void price(void) {
  for (int i = 0; i < ARCS; i++)
    reduced[i] = cost[i] - potential[from[i]] + potential[to[i]];
}

static int best(void) {
  int found = -1, least = 0;
  for (int i = 0; i < ARCS; i++)
    if (reduced[i] < least) {
      least = reduced[i];
      found = i;
    }
  return found;
}

static void pivot(int arc) {
  int step = reduced[arc];
  for (int n = 0; n < NODES; n++)
    if (below[n] >= to[arc])
      potential[n] -= step;
}

int main(void) {
  unsigned x = 7;
  for (int i = 0; i < ARCS; i++) {
    x = x * 1103515245u + 12345u;
    from[i] = x >> 16 & 127;
    to[i] = (x >> 8) % NODES;
    cost[i] = (int)(x >> 20 & 255) - 100;
  }
  for (int n = 0; n < NODES; n++)
    below[n] = n * 37 % NODES;
  int steps = 0;
  while (steps < 60) {
    price();
    int arc = best();
    if (arc < 0)
      break;
    pivot(arc);
    steps++;
  }
  printf("%d steps, %ld\n", steps, potential[3]);
  return 0;
}
