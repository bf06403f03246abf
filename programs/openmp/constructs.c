/*
 * OpenMP constructs with a closed-form answer: `cost.h` says how this program is called. Each case stands below its
 * derivation; `|` means "beside", and times are in units. The rules:
 *
 * A task begins where its creator was when it created it, or where the last task that it depends on ended. An undeferred
 * or included task is part of its creator's chain. `taskwait` waits for children, the end of a `taskgroup` for all that
 * was created in it, a barrier for the whole team and all its tasks. A detached task ends with its code or its event,
 * whichever is later. It makes no difference that a team of one executes tasks at once: they could have run beside.
 * A chunk of a loop, and a section, begins where its thread entered the loop. Locks order nothing, but the span is no
 * less than what any one lock was held.
 *
 * `p` is the number of threads of a team; iterations of loops are no more than 64, and the cases marked `loop` are for
 * teams of as many. The number behind a directive is that of the tasks created there.
 */
#include "cost.h"

#include <pthread.h>

/* The construct is in gcc since 13. */
#if defined(__clang__) || __GNUC__ >= 13
#define HAVE_OPENMP_5_1 1
#endif

/* Of programs that gcc has compiled, libomp knows nothing of events that detach, and loses target regions that are tasks. */
#ifdef __clang__
#define DETACH exact
#define TARGET_TASK exact
#else
#define DETACH native
#define TARGET_TASK native
#endif
#define CASE_AS(name, how, work, span) CASE(name, how, work, span)

#include "constructs/tasks.h"
#include "constructs/clauses.h"
#include "constructs/dependences.h"
#include "constructs/taskloops.h"
#include "constructs/regions.h"
#include "constructs/worksharing.h"
#include "constructs/doacross.h"
#include "constructs/others.h"

int main(int count, char **arguments)
{
    return run_cases(count, arguments);
}
