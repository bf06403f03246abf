#define N 40
extern int other_last;
void other_add(int);
int other_get(void);
void other_set(int *, int);
void other_chain(int *, int);
int other_read(void);
