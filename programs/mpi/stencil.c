/* Heat on a plate, in strips of rows: a ghost row above and below, exchanged without waiting, and a residual of all. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 64, ROWS = 16, STEPS = 20 };

int main(int argc, char **argv) {
    int me, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int up = me ? me - 1 : MPI_PROC_NULL, down = me + 1 < ranks ? me + 1 : MPI_PROC_NULL;
    double(*now)[COLUMNS] = calloc(ROWS + 2, sizeof *now), (*next)[COLUMNS] = calloc(ROWS + 2, sizeof *next);
    if (me == 0) for (int x = 0; x < COLUMNS; x++) now[0][x] = next[0][x] = 100.0;
    double all = 0;
    for (int step = 0; step < STEPS; step++) {
        MPI_Request r[4];
        MPI_Irecv(now[0], COLUMNS, MPI_DOUBLE, up, 0, MPI_COMM_WORLD, &r[0]);
        MPI_Irecv(now[ROWS + 1], COLUMNS, MPI_DOUBLE, down, 1, MPI_COMM_WORLD, &r[1]);
        MPI_Isend(now[1], COLUMNS, MPI_DOUBLE, up, 1, MPI_COMM_WORLD, &r[2]);
        MPI_Isend(now[ROWS], COLUMNS, MPI_DOUBLE, down, 0, MPI_COMM_WORLD, &r[3]);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
        double change = 0;
        for (int y = 1; y <= ROWS; y++)
            for (int x = 1; x < COLUMNS - 1; x++) {
                next[y][x] = 0.25 * (now[y - 1][x] + now[y + 1][x] + now[y][x - 1] + now[y][x + 1]);
                change += (next[y][x] - now[y][x]) * (next[y][x] - now[y][x]);
            }
        MPI_Allreduce(&change, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        double(*former)[COLUMNS] = now;
        now = next, next = former;
        if (me == 0) for (int x = 0; x < COLUMNS; x++) now[0][x] = 100.0;
    }
    double sum = 0, total;
    for (int y = 1; y <= ROWS; y++)
        for (int x = 0; x < COLUMNS; x++) sum += now[y][x];
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%.9f %.9f\n", total, all);
    free(now), free(next);
    MPI_Finalize();
    return 0;
}
