// A filter that smooths an image: pointers advance by fixed steps through mask, image and result, which holds all iterations together.
#include <stdio.h>
#include <stdlib.h>
#define W 120
#define H 90
#define R 3
static unsigned char in[(W + 2 * R) * (H + 2 * R)], out[W * H];
static int weight[2 * R + 1][2 * R + 1];
static int table[512];
static void smoothing(void) {
  unsigned char *to = out;
  for (int y = 0; y < H; y++) {
    for (int x = 0; x < W; x++) {
      int area = 0, total = 0;
      unsigned char *from = in + y * (W + 2 * R) + x;
      int *dpt = &weight[0][0];
      int centre = in[(y + R) * (W + 2 * R) + x + R];
      for (int j = 0; j < 2 * R + 1; j++) {
        for (int i = 0; i < 2 * R + 1; i++) {
          int brightness = *from++;
          int share = *dpt++ * table[256 + brightness - centre];
          area += share;
          total += share * brightness;
        }
        from += W - 1;
      }
      int mean = total / area;
      if (area == 0)
        *to++ = centre;
      else
        *to++ = mean;
    }
  }
}
int main(void) {
  for (int i = 0; i < (W + 2 * R) * (H + 2 * R); i++) in[i] = i * 31 % 251;
  for (int i = 0; i < 512; i++) table[i] = 1 + (i < 256 ? i : 512 - i) / 8;
  for (int j = 0; j < 2 * R + 1; j++) for (int i = 0; i < 2 * R + 1; i++) weight[j][i] = 1 + i * j % 3;
  smoothing();
  printf("%d %d\n", out[5], out[W * H - 1]);
  return 0;
}
