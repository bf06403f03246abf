! OpenMP constructs in Fortran with a closed-form answer: `cost.f90` says how this program is called, and `constructs.c`
! what the rules are. Each case stands below its derivation; the answers are listed at the end.
!
! flang 19 does not compile all of them.
module cases
    use omp_lib
    use costs
    implicit none

contains

    subroutine serial()
        call cost(7)
    end subroutine

    ! 5 before the first OpenMP call, 3 | 3, 4 afterwards.
    subroutine prefix_suffix()
        call cost(5)
        !$omp parallel
        !$omp single
        !$omp task
        call cost(3)
        !$omp end task
        !$omp task
        call cost(3)
        !$omp end task
        !$omp end single
        !$omp end parallel
        call cost(4)
    end subroutine

    ! 1 + (4 | 3) + 2.
    subroutine task_pair()
        !$omp parallel
        !$omp single
        call cost(1)
        !$omp task
        call cost(4)
        !$omp end task
        call cost(3)
        !$omp taskwait
        call cost(2)
        !$omp end single
        !$omp end parallel
    end subroutine

    ! 3 | 8 | 1 | 4; flang 19 copies a variable into a task when that begins, which is too late for a loop here.
    subroutine tasks_unequal()
        !$omp parallel
        !$omp single
        !$omp task
        call cost(3)
        !$omp end task
        !$omp task
        call cost(8)
        !$omp end task
        !$omp task
        call cost(1)
        !$omp end task
        !$omp task
        call cost(4)
        !$omp end task
        !$omp end single
        !$omp end parallel
    end subroutine

    ! Ten times 1 | 2.
    subroutine taskwait_chain()
        integer :: i
        !$omp parallel
        !$omp single
        do i = 1, 10
            !$omp task
            call cost(1)
            !$omp end task
            !$omp task
            call cost(2)
            !$omp end task
            !$omp taskwait
        end do
        !$omp end single
        !$omp end parallel
    end subroutine

    ! The child ends at 2, its own child at 1 + 10; the parent goes on to 2 + 2.
    subroutine taskwait_only_children()
        !$omp parallel
        !$omp single
        !$omp task
        call cost(1)
        !$omp task
        call cost(10)
        !$omp end task
        call cost(1)
        !$omp end task
        !$omp taskwait
        call cost(2)
        !$omp end single
        !$omp end parallel
    end subroutine

    ! From the initial thread, outside any parallel region: 1 + (4 | 3) + 1.
    subroutine tasks_outside_parallel()
        call cost(1)
        !$omp task
        call cost(4)
        !$omp end task
        call cost(3)
        !$omp taskwait
        call cost(1)
    end subroutine

    recursive integer function fib(n) result(sum)
        integer, intent(in) :: n
        integer :: a, b
        call cost(1)
        if (n < 2) then
            sum = n
            return
        end if
        !$omp task shared(a) firstprivate(n)
        a = fib(n - 1)
        !$omp end task
        !$omp task shared(b) firstprivate(n)
        b = fib(n - 2)
        !$omp end task
        !$omp taskwait
        sum = a + b
    end function

    ! 2 fib(11) - 1 calls of 1, at most ten in a chain.
    subroutine recursion_fib()
        integer :: sum
        sum = 0
        !$omp parallel shared(sum)
        !$omp single
        sum = fib(10)
        !$omp end single
        !$omp end parallel
        if (sum /= 55) error stop 3
    end subroutine

    recursive subroutine leaves(depth)
        integer, intent(in) :: depth
        if (depth == 0) then
            call cost(1)
            return
        end if
        !$omp task firstprivate(depth)
        call leaves(depth - 1)
        !$omp end task
        !$omp task firstprivate(depth)
        call leaves(depth - 1)
        !$omp end task
        !$omp taskwait
    end subroutine

    ! 2^6 leaves.
    subroutine recursion_tree()
        !$omp parallel
        !$omp single
        call leaves(6)
        !$omp end single
        !$omp end parallel
    end subroutine

    ! 1 + 10 in the group, then 2.
    subroutine taskgroup_grandchildren()
        !$omp parallel
        !$omp single
        !$omp taskgroup
        !$omp task
        call cost(1)
        !$omp task
        call cost(10)
        !$omp end task
        call cost(1)
        !$omp end task
        !$omp end taskgroup
        call cost(2)
        !$omp end single
        !$omp end parallel
    end subroutine

    ! 3 | (5 + 2).
    subroutine undeferred()
        !$omp parallel
        !$omp single
        !$omp task
        call cost(3)
        !$omp end task
        !$omp task if(.false.)
        call cost(5)
        !$omp end task
        call cost(2)
        !$omp end single
        !$omp end parallel
    end subroutine

    ! (1 + 4 + 2 + 1) | 3.
    subroutine final_included()
        !$omp parallel
        !$omp single
        !$omp task final(.true.)
        call cost(1)
        !$omp task
        call cost(4)
        !$omp end task
        !$omp task
        call cost(2)
        !$omp end task
        !$omp taskwait
        call cost(1)
        !$omp end task
        call cost(3)
        !$omp end single
        !$omp end parallel
    end subroutine

#ifndef __flang__
    ! Each 2 + 3 + 1 + 1.
    subroutine untied()
        integer :: i
        !$omp parallel
        !$omp single
        do i = 1, 4
            !$omp task untied
            call cost(2)
            !$omp task
            call cost(3)
            !$omp end task
            !$omp taskwait
            call cost(1)
            !$omp taskyield
            call cost(1)
            !$omp end task
        end do
        !$omp end single
        !$omp end parallel
    end subroutine

    ! 4 | (2 + 1).
    subroutine mergeable_tasks()
        !$omp parallel
        !$omp single
        !$omp task mergeable
        call cost(4)
        !$omp end task
        !$omp task mergeable if(.false.)
        call cost(2)
        !$omp end task
        call cost(1)
        !$omp end single
        !$omp end parallel
    end subroutine

    ! Four tasks of four iterations, then 1.
    subroutine taskloop_grainsize()
        integer :: i
        !$omp parallel
        !$omp single
        !$omp taskloop grainsize(4)
        do i = 1, 16
            call cost(1)
        end do
        !$omp end taskloop
        call cost(1)
        !$omp end single
        !$omp end parallel
    end subroutine

    ! (5 | 2) + 1.
    subroutine taskloop_nogroup()
        integer :: i
        !$omp parallel
        !$omp single
        !$omp taskloop nogroup num_tasks(4)
        do i = 1, 4
            call cost(5)
        end do
        !$omp end taskloop
        call cost(2)
        !$omp taskwait
        call cost(1)
        !$omp end single
        !$omp end parallel
    end subroutine

    ! 1 | 2 | ... | 6 in a group with a reduction, then 2.
    subroutine taskgroup_reduction()
        integer :: i, sum
        sum = 0
        !$omp parallel
        !$omp single
        !$omp taskgroup task_reduction(+:sum)
        do i = 1, 6
            !$omp task in_reduction(+:sum) firstprivate(i)
            sum = sum + i
            call cost(i)
            !$omp end task
        end do
        !$omp end taskgroup
        call cost(2)
        !$omp end single
        !$omp end parallel
        if (sum /= 21) error stop 3
    end subroutine

    ! Nobody gets past the barrier: 2, then 1.
    subroutine cancel_parallel()
        if (.not. omp_get_cancellation()) then
            print "(a)", "this case needs OMP_CANCELLATION=true"
            error stop 2
        end if
        !$omp parallel num_threads(4)
        if (omp_get_thread_num() == 0) then
            call cost(2)
            !$omp cancel parallel
        end if
        !$omp barrier
        call cost(100)
        !$omp end parallel
        call cost(1)
    end subroutine

    ! 1 + 3 + 1: code of a target region, without a device.
    subroutine target_region()
        call cost(1)
        !$omp target
        call cost(3)
        !$omp end target
        call cost(1)
    end subroutine

    ! 1 + (2 | 2 | 2) + 3, with elements of an array.
    subroutine depend_elements()
        integer :: i, x(4)
        x = 0
        !$omp parallel shared(x)
        !$omp single
        !$omp task depend(out: x(1))
        call cost(1)
        !$omp end task
        do i = 2, 4
            !$omp task depend(in: x(1)) depend(out: x(i))
            call cost(2)
            !$omp end task
        end do
        !$omp task depend(in: x(2), x(3), x(4))
        call cost(3)
        !$omp end task
        !$omp end single
        !$omp end parallel
    end subroutine
#endif

    ! 2 + five times 3.
    subroutine depend_chain()
        integer :: i, x
        x = 0
        !$omp parallel shared(x)
        !$omp single
        call cost(2)
        do i = 1, 5
            !$omp task depend(inout: x)
            call cost(3)
            !$omp end task
        end do
        !$omp end single
        !$omp end parallel
    end subroutine

    ! 2 + (3 | 5) + 1.
    subroutine depend_diamond()
        integer :: x, y, z
        x = 0
        y = 0
        z = 0
        !$omp parallel shared(x, y, z)
        !$omp single
        !$omp task depend(out: x)
        call cost(2)
        !$omp end task
        !$omp task depend(in: x) depend(out: y)
        call cost(3)
        !$omp end task
        !$omp task depend(in: x) depend(out: z)
        call cost(5)
        !$omp end task
        !$omp task depend(in: y, z)
        call cost(1)
        !$omp end task
        !$omp end single
        !$omp end parallel
    end subroutine

    ! Of two threads each 1 + (2 | 3) + 1.
    subroutine parallel_nested()
        call omp_set_max_active_levels(2)
        !$omp parallel num_threads(2)
        call cost(1)
        !$omp parallel num_threads(2)
        call cost(omp_get_thread_num() + 2)
        !$omp end parallel
        call cost(1)
        !$omp end parallel
    end subroutine

    ! 3 of each thread.
    subroutine parallel_all()
        !$omp parallel
        call cost(3)
        !$omp end parallel
    end subroutine

    ! A team of one, and a task beside its thread: 2 + (3 | 1).
    subroutine parallel_undeferred()
        !$omp parallel if(.false.)
        call cost(2)
        !$omp task
        call cost(3)
        !$omp end task
        call cost(1)
        !$omp end parallel
    end subroutine

    ! 3 by one, then 2 by all.
    subroutine single_thread()
        !$omp parallel
        !$omp single
        call cost(3)
        !$omp end single
        call cost(2)
        !$omp end parallel
    end subroutine

    ! The first thread takes 3 + 2.
    subroutine master_thread()
        !$omp parallel
        !$omp master
        call cost(3)
        !$omp end master
        call cost(2)
        !$omp end parallel
    end subroutine

    ! (1 | 2 | 3 | 4) + (4 | 3 | 2 | 1).
    subroutine barriers()
        !$omp parallel num_threads(4)
        call cost(omp_get_thread_num() + 1)
        !$omp barrier
        call cost(4 - omp_get_thread_num())
        !$omp end parallel
    end subroutine

    ! The barrier waits for 9: 9 + 2.
    subroutine barrier_tasks()
        !$omp parallel num_threads(4)
        !$omp single
        !$omp task
        call cost(9)
        !$omp end task
        !$omp end single nowait
        call cost(1)
        !$omp barrier
        call cost(2)
        !$omp end parallel
    end subroutine

    ! 5 + 1 each; the lock is held 4.
    subroutine critical_section()
        !$omp parallel num_threads(4)
        call cost(5)
        !$omp critical(one)
        call cost(1)
        !$omp end critical(one)
        !$omp end parallel
    end subroutine

    ! 4 + 1 each; held 4.
    subroutine lock()
        integer(omp_lock_kind) :: one
        integer :: i
        call omp_init_lock(one)
        !$omp parallel shared(one)
        !$omp single
        do i = 1, 4
            !$omp task shared(one)
            call cost(4)
            call omp_set_lock(one)
            call cost(1)
            call omp_unset_lock(one)
            !$omp end task
        end do
        !$omp end single
        !$omp end parallel
        call omp_destroy_lock(one)
    end subroutine

    ! Each section by itself: 4.
    subroutine sections_of_four()
        !$omp parallel sections
        !$omp section
        call cost(1)
        !$omp section
        call cost(2)
        !$omp section
        call cost(3)
        !$omp section
        call cost(4)
        !$omp end parallel sections
    end subroutine

    ! 1 to 64: the last.
    subroutine do_static()
        integer :: i
        !$omp parallel do schedule(static)
        do i = 1, 64
            call cost(i)
        end do
        !$omp end parallel do
    end subroutine

    ! Chunks of four: 61 + 62 + 63 + 64.
    subroutine do_dynamic()
        integer :: i
        !$omp parallel do schedule(dynamic, 4)
        do i = 1, 64
            call cost(i)
        end do
        !$omp end parallel do
    end subroutine

    ! No more iterations than threads: chunks of one.
    subroutine do_guided()
        integer :: i
        !$omp parallel do schedule(guided)
        do i = 1, 64
            call cost(i)
        end do
        !$omp end parallel do
    end subroutine

    ! A reduction: 1 + 64 + 2.
    subroutine do_reduction()
        integer :: i, sum
        sum = 0
        call cost(1)
        !$omp parallel do reduction(+:sum)
        do i = 1, 64
            sum = sum + i
            call cost(i)
        end do
        !$omp end parallel do
        call cost(2)
        if (sum /= 2080) error stop 3
    end subroutine

    ! 8 x 8 iterations of 3.
    subroutine do_collapse()
        integer :: i, j
        !$omp parallel do collapse(2)
        do i = 1, 8
            do j = 1, 8
                call cost(3)
            end do
        end do
        !$omp end parallel do
    end subroutine

    ! Iterations of 10 + 1, the latter one after the other.
    subroutine do_ordered()
        integer :: i
        !$omp parallel do ordered schedule(dynamic)
        do i = 1, 8
            call cost(10)
            !$omp ordered
            call cost(1)
            !$omp end ordered
        end do
        !$omp end parallel do
    end subroutine

    ! A statement of array code by all threads: 2 and 3 around it.
    subroutine workshare_statement()
        integer :: x(100)
        call cost(2)
        !$omp parallel workshare
        x = 1
        x = x + 1
        !$omp end parallel workshare
        call cost(3)
        if (sum(x) /= 200) error stop 3
    end subroutine

    subroutine list_cases()
        call add_case("serial", serial, 7, 7)
        call add_case("prefix_suffix", prefix_suffix, 15, 12)
        call add_case("task_pair", task_pair, 10, 7)
        call add_case("tasks_unequal", tasks_unequal, 16, 8)
        call add_case("taskwait_chain", taskwait_chain, 30, 20)
        call add_case("taskwait_only_children", taskwait_only_children, 14, 11)
        call add_case("tasks_outside_parallel", tasks_outside_parallel, 9, 6)
        call add_case("recursion_fib", recursion_fib, 177, 10)
        call add_case("recursion_tree", recursion_tree, 64, 1)
        call add_case("taskgroup_grandchildren", taskgroup_grandchildren, 14, 13)
        call add_case("undeferred", undeferred, 10, 7)
        call add_case("final_included", final_included, 11, 8)
#ifndef __flang__
        call add_case("untied", untied, 28, 7)
        call add_case("mergeable", mergeable_tasks, 7, 4)
        call add_case("taskloop_grainsize", taskloop_grainsize, 17, 5)
        call add_case("taskloop_nogroup", taskloop_nogroup, 23, 6)
        call add_case("taskgroup_reduction", taskgroup_reduction, 23, 8)
        call add_case("cancel_parallel", cancel_parallel, 3, 3)
        call add_case("target", target_region, 5, 5)
        call add_case("depend_elements", depend_elements, 10, 6)
#endif
        call add_case("depend_chain", depend_chain, 17, 17)
        call add_case("depend_diamond", depend_diamond, 11, 8)
        call add_case("parallel_nested", parallel_nested, 14, 5)
        call add_case("parallel_all", parallel_all, 3*team, 3)
        call add_case("parallel_undeferred", parallel_undeferred, 6, 5)
        call add_case("single", single_thread, 3 + 2*team, 5)
        call add_case("master", master_thread, 3 + 2*team, 5)
        call add_case("barrier", barriers, 20, 8)
        call add_case("barrier_tasks", barrier_tasks, 21, 11)
        call add_case("critical", critical_section, 24, 6)
        call add_case("lock", lock, 20, 5)
        call add_case("sections", sections_of_four, 10, 4, "loop")
        call add_case("do_static", do_static, 2080, 64, "loop")
        call add_case("do_dynamic", do_dynamic, 2080, 250, "loop")
        call add_case("do_guided", do_guided, 2080, 64, "loop")
        call add_case("do_reduction", do_reduction, 2083, 67, "loop")
        call add_case("do_collapse", do_collapse, 192, 3, "loop")
        call add_case("do_ordered", do_ordered, 88, 18, "exact")
        call add_case("workshare", workshare_statement, 5, 5)
    end subroutine
end module

program constructs
    use cases
    use costs
    implicit none
    call run_cases(list_cases)
end program
