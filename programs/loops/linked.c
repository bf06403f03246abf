/* Lists, trees, rows that pointers lead to. Labels as in arrays.c. */
#include <stdio.h>
#include <stdlib.h>
struct node { int v; struct node *next, *prev; };
struct tree { int key, size; struct tree *l, *r; };
enum { N = 50 };
static struct node *make(int n) { struct node *h = NULL; for (int i = 0; i < n; i++) { struct node *x = malloc(sizeof *x); x->v = i; x->next = h; x->prev = NULL; if (h) h->prev = x; h = x; } return h; } /* @serial */
static struct tree *insert(struct tree *t, int k) {
  struct tree **at = &t;
  while (*at) { (*at)->size++; at = k < (*at)->key ? &(*at)->l : &(*at)->r; }       /* @serial */
  *at = calloc(1, sizeof **at); (*at)->key = k; (*at)->size = 1;
  return t;
}
static int depth(const struct tree *t) { if (!t) return 0; int a = depth(t->l), b = depth(t->r); return 1 + (a > b ? a : b); }
static void scale(struct tree *t, int f) { if (!t) return; t->key *= f; scale(t->l, f); scale(t->r, f); }
static int list_len(struct node *h) { int n = 0; while (h) { n++; h = h->next; } return n; }   /* @serial */
int main(void) {
  struct node *h = make(N);
  for (struct node *p = h; p; p = p->next) p->v *= 2;                     /* @serial */
  struct node *tail = NULL;
  for (struct node *p = h; p; p = p->next) tail = p;                      /* @serial */
  struct node *r = NULL, *q = h;
  while (q) { struct node *next = q->next; q->next = r; r = q; q = next; } /* @serial */
  struct tree *t = NULL;
  for (int i = 0; i < N; i++) t = insert(t, i * 37 % 101);                /* @serial */
  double **m = malloc(20 * sizeof *m);
  for (int i = 0; i < 20; i++) m[i] = malloc(30 * sizeof **m);            /* @parallel */
  for (int i = 0; i < 20; i++)                                            /* @parallel */
    for (int j = 0; j < 30; j++) m[i][j] = i - j;                         /* @parallel */
  for (int i = 1; i < 20; i++)                                            /* @serial */
    for (int j = 1; j < 30; j++) m[i][j] += m[i - 1][j - 1];              /* @parallel */
  for (int i = 1; i < 20; i++)                                            /* @serial */
    for (int j = 1; j < 30; j++) m[i][j] = m[i - 1][j] + m[i][j - 1];     /* @serial */
  for (int k = 0; k < 19; k += 2) { double *x = m[k]; m[k] = m[k + 1]; m[k + 1] = x; }  /* @parallel */
  double *rows[4]; double s = 0;
  for (int i = 0; i < 4; i++) rows[i] = m[0];                             /* @parallel */
  for (int i = 0; i < 4; i++) rows[i][3] += i;                            /* @clauses */
  for (int i = 0; i < 4; i++) for (int j = 0; j < 30; j++) rows[i][j] = rows[i][j] * 0.5 + i;   /* @serial */
  for (int i = 0; i < 20; i++) s += m[i][i];                              /* @clauses */
  scale(t, 3);
  for (int i = 0; i < 20; i++) free(m[i]);                                /* @parallel */
  printf("%d %d %g %d %d\n", depth(t), list_len(r), s, tail->v, t->size);
  return 0;
}
