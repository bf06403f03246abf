// A hash of a message: each block changes the digest that the block before has left, so that blocks follow one another.
#include <stdio.h>
#include <string.h>
#define BLOCKS 400
static unsigned char data[BLOCKS * 64];
static unsigned digest[5];
static void transform(const unsigned char *block) {
  unsigned w[80];
  for (int i = 0; i < 16; i++) w[i] = block[4 * i] | block[4 * i + 1] << 8 | block[4 * i + 2] << 16 | (unsigned)block[4 * i + 3] << 24;
  for (int i = 16; i < 80; i++) { unsigned x = w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16]; w[i] = x << 1 | x >> 31; }
  unsigned a = digest[0], b = digest[1], c = digest[2], d = digest[3], e = digest[4];
  for (int i = 0; i < 80; i++) {
    unsigned t = (a << 5 | a >> 27) + ((b & c) | (~b & d)) + e + w[i] + 0x5a827999u;
    e = d; d = c; c = b << 30 | b >> 2; b = a; a = t;
  }
  digest[0] += a; digest[1] += b; digest[2] += c; digest[3] += d; digest[4] += e;
}
static void update(const unsigned char *bytes, int count) {
  while (count >= 64) {
    transform(bytes);
    bytes += 64;
    count -= 64;
  }
}
static void stream(void) {
  for (int at = 0; at < BLOCKS; at += 4)
    update(data + at * 64, 256);
}
int main(void) {
  unsigned x = 1;
  for (int i = 0; i < BLOCKS * 64; i++) data[i] = i * 7 + 3;
  for (int i = 0; i < 5; i++) digest[i] = 0x67452301u * (i + 1);
  stream();
  printf("%08x\n", digest[0] + x);
  return 0;
}
