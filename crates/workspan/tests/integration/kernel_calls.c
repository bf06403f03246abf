/*
 * Counts the system calls that a thread makes while it holds a mutex. Loaded behind Workspan's library, so that what its hooks do under
 * the program's locks counts, too.
 *
 * The kernel lets each thread say by a byte whether its system calls are allowed (PR_SET_SYSCALL_USER_DISPATCH). One that is not is a
 * signal, whose handler counts it and makes it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

/* As in linux/prctl.h, which older headers do not have. */
enum { SET_DISPATCH = 59, DISPATCH_ON = 1, ALLOW = 0, BLOCK = 1 };

static atomic_long locks, calls;
static __thread volatile char selector;
static __thread int is_set;
static __thread int depth;

typedef int Function(pthread_mutex_t *);
static Function *own_lock, *own_trylock, *own_unlock;

#define ALWAYS __attribute__((section("allowed"), noinline, used))
extern char __start_allowed[], __stop_allowed[];

ALWAYS static long call(long number, long a, long b, long c, long d, long e, long f)
{
    long answer;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(answer)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return answer;
}

/* The way back from the handler is a system call, too. */
__asm__(".pushsection allowed,\"ax\",@progbits\nback: mov $15, %eax\n syscall\n.popsection\n");
extern char back[];

static void blocked(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    greg_t *at = ((ucontext_t *)context)->uc_mcontext.gregs;
    calls++;
    at[REG_RAX] = call(info->si_syscall, at[REG_RDI], at[REG_RSI], at[REG_RDX], at[REG_R10], at[REG_R8], at[REG_R9]);
}

/* What the kernel takes: the C library's own puts its way back in. */
struct action {
    void (*handler)(int, siginfo_t *, void *);
    unsigned long flags;
    void *restorer;
    unsigned long mask;
};

__attribute__((constructor)) static void begin(void)
{
    enum { RESTORER = 0x04000000 };
    own_lock = (Function *)dlsym(RTLD_NEXT, "pthread_mutex_lock");
    own_trylock = (Function *)dlsym(RTLD_NEXT, "pthread_mutex_trylock");
    own_unlock = (Function *)dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    struct action action = {blocked, SA_SIGINFO | SA_NODEFER | RESTORER, back, 0};
    if (call(SYS_rt_sigaction, SIGSYS, (long)&action, 0, 8, 0, 0) != 0)
        abort();
}

__attribute__((destructor)) static void end(void)
{
    if (locks > 0 && getenv("KERNEL_CALLS")) {
        FILE *out = fopen(getenv("KERNEL_CALLS"), "w");
        fprintf(out, "%ld %ld\n", locks, calls);
        fclose(out);
    }
}

static int held(int answer)
{
    if (answer != 0 || depth++ > 0)
        return answer;
    if (!is_set) {
        is_set = 1;
        long size = __stop_allowed - __start_allowed;
        if (call(SYS_prctl, SET_DISPATCH, DISPATCH_ON, (long)__start_allowed, size, (long)&selector, 0) != 0)
            abort();
    }
    locks++;
    selector = BLOCK;
    return answer;
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    return held(own_lock(mutex));
}

int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    return held(own_trylock(mutex));
}

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (--depth == 0)
        selector = ALLOW;
    return own_unlock(mutex);
}
