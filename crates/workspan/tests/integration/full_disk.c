/*
 * A disk without room: whoever loads this library can write FULL_DISK_ROOM bytes to files below the folder FULL_DISK, and
 * no more. A write that fits in part is done in part, as on a real disk.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int is_on_disk(int fd)
{
    const char *folder = getenv("FULL_DISK");
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (!folder || length < 0)
        return 0;
    path[length] = 0;
    return strncmp(path, folder, strlen(folder)) == 0 && path[strlen(folder)] == '/';
}

/* So many bytes of a write may pass; -1 if none. */
static ssize_t take(int fd, size_t wanted)
{
    static long long room = -1;
    if (!is_on_disk(fd) || wanted == 0)
        return (ssize_t)wanted;
    if (__atomic_load_n(&room, __ATOMIC_RELAXED) < 0) {
        long long none = -1, all = atoll(getenv("FULL_DISK_ROOM"));
        __atomic_compare_exchange_n(&room, &none, all, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
    for (;;) {
        long long left = __atomic_load_n(&room, __ATOMIC_RELAXED);
        long long taken = left < (long long)wanted ? left : (long long)wanted;
        if (taken == 0) {
            errno = ENOSPC;
            return -1;
        }
        if (__atomic_compare_exchange_n(&room, &left, left - taken, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return taken;
    }
}

ssize_t write(int fd, const void *bytes, size_t count)
{
    ssize_t passes = take(fd, count);
    return passes < 0 ? -1 : NEXT(write)(fd, bytes, (size_t)passes);
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at)
{
    ssize_t passes = take(fd, count);
    return passes < 0 ? -1 : NEXT(pwrite64)(fd, bytes, (size_t)passes, at);
}

/* What is written in several pieces is written one by one. */
ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    if (!is_on_disk(fd))
        return NEXT(writev)(fd, pieces, count);
    ssize_t all = 0;
    for (int i = 0; i < count; i++) {
        ssize_t written = write(fd, pieces[i].iov_base, pieces[i].iov_len);
        if (written < 0)
            return all ? all : -1;
        all += written;
        if ((size_t)written < pieces[i].iov_len)
            break;
    }
    return all;
}

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t count, unsigned flags)
{
    if (is_on_disk(to)) {
        /* Whoever copies then writes. */
        errno = EXDEV;
        return -1;
    }
    return NEXT(copy_file_range)(from, from_at, to, to_at, count, flags);
}

ssize_t sendfile64(int to, int from, off64_t *at, size_t count)
{
    if (is_on_disk(to)) {
        errno = EINVAL;
        return -1;
    }
    return NEXT(sendfile64)(to, from, at, count);
}
