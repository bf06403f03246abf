/* Most of MPI once. Each rank prints what it did: sync tasks, passages of collectives, bytes that the library read and wrote;
   rank 0 also how many collectives there were. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static long syncs, passages, bytes_read, bytes_written, collectives;
static int me, ranks;
static int a[64], b[64];
#define W MPI_COMM_WORLD

static void message(int out, int in) {
    bytes_read += out;
    bytes_written += in;
}

/* One collective of all, in which a rank passes `times`. */
static void collective(int times, int out, int in) {
    passages += times;
    collectives++;
    message(out, in);
}

static void messages(void) {
    int right = (me + 1) % ranks, left = (me + ranks - 1) % ranks, flag = 0, index, done = 0, count, indices[2];
    MPI_Status status;
    MPI_Message taken;
    MPI_Request r[2];
    MPI_Sendrecv(a, 10, MPI_INT, right, 1, b, 64, MPI_INT, left, 1, W, MPI_STATUS_IGNORE);
    syncs += 2, message(40, 40);
    /* From any source. */
    if (me == 0) {
        for (int i = 1; i < ranks; i++) {
            MPI_Recv(b, 64, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, W, MPI_STATUS_IGNORE);
            syncs++;
        }
        message(0, 4 * ranks * (ranks - 1) / 2);
    } else {
        MPI_Send(a, me, MPI_INT, 0, me, W);
        syncs++, message(4 * me, 0);
    }
    MPI_Barrier(W), collective(1, 0, 0);
    /* Requests: all at once, one after the other, by tests. */
    MPI_Irecv(b, 64, MPI_INT, left, 2, W, &r[0]);
    MPI_Isend(a, 8, MPI_INT, right, 2, W, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    syncs += 3, message(32, 32);
    MPI_Irecv(b, 64, MPI_INT, left, 2, W, &r[0]);
    MPI_Issend(a, 7, MPI_INT, right, 2, W, &r[1]);
    MPI_Waitany(2, r, &index, &status);
    MPI_Wait(&r[1 - index], &status);
    syncs += 3, message(28, 28);
    MPI_Irecv(b, 64, MPI_INT, left, 3, W, &r[0]);
    MPI_Isend(a, 6, MPI_INT, right, 3, W, &r[1]);
    while (!flag) MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE);
    syncs += 3, message(24, 24);
    MPI_Irecv(b, 64, MPI_INT, left, 4, W, &r[0]);
    MPI_Isend(a, 5, MPI_INT, right, 4, W, &r[1]);
    while (done < 2) {
        MPI_Waitsome(2, r, &count, indices, MPI_STATUSES_IGNORE);
        done += count;
    }
    syncs += 3, message(20, 20);
    MPI_Recv_init(b, 64, MPI_INT, left, 5, W, &r[0]);
    MPI_Send_init(a, 4, MPI_INT, right, 5, W, &r[1]);
    for (int i = 0; i < 3; i++) {
        if (i == 1) MPI_Start(&r[0]), MPI_Start(&r[1]);
        else MPI_Startall(2, r);
        MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
        syncs += 3, message(16, 16);
    }
    MPI_Request_free(&r[0]);
    MPI_Request_free(&r[1]);
    /* Looked at first. */
    MPI_Isend(a, 3, MPI_INT, me, 6, W, &r[0]);
    MPI_Probe(me, 6, W, &status);
    MPI_Recv(b, 3, MPI_INT, me, 6, W, &status);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Isend(a, 3, MPI_INT, me, 6, W, &r[0]);
    MPI_Mprobe(MPI_ANY_SOURCE, 6, W, &taken, &status);
    MPI_Mrecv(b, 3, MPI_INT, &taken, MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    syncs += 8, message(24, 24);
    /* Nobody. */
    MPI_Sendrecv_replace(b, 2, MPI_INT, MPI_PROC_NULL, 0, MPI_PROC_NULL, 0, W, MPI_STATUS_IGNORE);
}

static void all(void) {
    int counts[64], places[64], root = ranks - 1, at_root = me == root;
    MPI_Request r;
    for (int i = 0; i < ranks; i++) counts[i] = 1, places[i] = i;
    MPI_Barrier(W), collective(1, 0, 0);
    MPI_Bcast(a, 4, MPI_INT, root, W), collective(1, at_root ? 16 : 0, at_root ? 0 : 16);
    MPI_Reduce(a, b, 4, MPI_INT, MPI_SUM, root, W), collective(1, 16, at_root ? 16 : 0);
    MPI_Allreduce(a, b, 3, MPI_INT, MPI_SUM, W), collective(1, 12, 12);
    MPI_Allreduce(MPI_IN_PLACE, b, 3, MPI_INT, MPI_SUM, W), collective(1, 0, 12);
    MPI_Scan(a, b, 2, MPI_INT, MPI_SUM, W), collective(1, 8, 8);
    MPI_Exscan(a, b, 2, MPI_INT, MPI_SUM, W), collective(1, 8, me ? 8 : 0);
    MPI_Gather(a, 1, MPI_INT, b, 1, MPI_INT, root, W), collective(1, 4, at_root ? 4 * ranks : 0);
    MPI_Gatherv(a, 1, MPI_INT, b, counts, places, MPI_INT, root, W), collective(1, 4, at_root ? 4 * ranks : 0);
    MPI_Scatter(a, 1, MPI_INT, b, 1, MPI_INT, root, W), collective(1, at_root ? 4 * ranks : 0, 4);
    MPI_Scatterv(a, counts, places, MPI_INT, b, 1, MPI_INT, root, W), collective(1, at_root ? 4 * ranks : 0, 4);
    MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, W), collective(1, 4, 4 * ranks);
    MPI_Allgatherv(a, 1, MPI_INT, b, counts, places, MPI_INT, W), collective(1, 4, 4 * ranks);
    MPI_Alltoall(a, 1, MPI_INT, b, 1, MPI_INT, W), collective(1, 4 * ranks, 4 * ranks);
    MPI_Alltoallv(a, counts, places, MPI_INT, b, counts, places, MPI_INT, W), collective(1, 4 * ranks, 4 * ranks);
    MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, W), collective(1, 8 * ranks, 8);
    MPI_Ibarrier(W, &r), MPI_Wait(&r, MPI_STATUS_IGNORE), collective(2, 0, 0);
    MPI_Iallreduce(a, b, 3, MPI_INT, MPI_SUM, W, &r), MPI_Wait(&r, MPI_STATUS_IGNORE), collective(2, 12, 12);
    MPI_Ibcast(a, 4, MPI_INT, root, W, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    collective(at_root ? 2 : 1, at_root ? 16 : 0, at_root ? 0 : 16);
    MPI_Igather(a, 1, MPI_INT, b, 1, MPI_INT, root, W, &r), MPI_Wait(&r, MPI_STATUS_IGNORE);
    collective(2, 4, at_root ? 4 * ranks : 0);
}

static void parts(void) {
    MPI_Comm part;
    MPI_Comm_split(W, me % 2, -me, &part), collective(1, 0, 0);
    int size, own;
    MPI_Comm_size(part, &size);
    MPI_Comm_rank(part, &own);
    /* The other half makes the same calls, as others. */
    int halves = ranks > 1 ? 2 : 1;
    MPI_Barrier(part), MPI_Allreduce(a, b, 1, MPI_INT, MPI_SUM, part);
    passages += 2, collectives += 2 * halves, message(4, 4);
    /* The first of each half sends to the last: ranks are those of the half. */
    if (own == 0 && size > 1) MPI_Send(a, 2, MPI_INT, size - 1, 0, part), syncs++, message(8, 0);
    if (own == size - 1 && size > 1) MPI_Recv(b, 2, MPI_INT, 0, 0, part, MPI_STATUS_IGNORE), syncs++, message(0, 8);
    MPI_Comm_free(&part);
    passages++, collectives += halves;
}

static void windows(void) {
    MPI_Win window;
    MPI_Group world, other;
    int right = (me + 1) % ranks;
    MPI_Win_create(b, sizeof b, sizeof b[0], MPI_INFO_NULL, W, &window), collective(1, 0, 0);
    MPI_Win_fence(0, window), collective(1, 0, 0);
    MPI_Put(a, 3, MPI_INT, right, 0, 3, MPI_INT, window), message(12, 0);
    MPI_Win_fence(0, window), collective(1, 0, 0);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
    MPI_Get(a, 2, MPI_INT, right, 0, 2, MPI_INT, window), message(0, 8);
    MPI_Win_unlock(right, window);
    syncs += 2;
    MPI_Barrier(W), collective(1, 0, 0);
    /* Pairs: the even one accesses the odd one's memory. */
    int peer = me ^ 1;
    if (peer < ranks) {
        MPI_Comm_group(W, &world);
        MPI_Group_incl(world, 1, &peer, &other);
        if (me % 2) {
            MPI_Win_post(other, 0, window);
            MPI_Win_wait(window);
        } else {
            MPI_Win_start(other, 0, window);
            MPI_Put(a, 1, MPI_INT, peer, 0, 1, MPI_INT, window), message(4, 0);
            MPI_Win_complete(window);
        }
        syncs += 2;
        MPI_Group_free(&other), MPI_Group_free(&world);
    }
    MPI_Win_free(&window), collective(1, 0, 0);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv), collective(1, 0, 0);
    MPI_Comm_rank(W, &me);
    MPI_Comm_size(W, &ranks);
    memset(a, me, sizeof a);
    messages();
    all();
    parts();
    /* Open MPI makes none for one process. */
    if (ranks > 1) windows();
    MPI_Finalize(), collective(1, 0, 0);
    printf("rank %d %ld %ld %ld %ld %ld\n", me, syncs, passages, bytes_read, bytes_written, collectives);
    return 0;
}
