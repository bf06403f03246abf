/* A library that uses OpenMP: what `loads.c` loads. */
int run(void) {
    int sum = 0;
#pragma omp parallel num_threads(2)
    {
#pragma omp for reduction(+ : sum) schedule(dynamic)
        for (int i = 0; i < 100; i++) sum += i;
#pragma omp single
        for (int i = 0; i < 4; i++) {
#pragma omp task shared(sum) firstprivate(i)
            __atomic_fetch_add(&sum, i, __ATOMIC_SEQ_CST);
        }
#pragma omp for
        for (int i = 0; i < 100; i++) {
#pragma omp critical
            sum += i;
        }
    }
    return sum;
}
