! fib [N [CUTOFF]]: Fibonacci numbers by two tasks for each call above CUTOFF, and by none below it, as fib.c.
module fibonacci
    implicit none

contains

    recursive integer(8) function serial(n) result(sum)
        integer, intent(in) :: n
        if (n < 2) then
            sum = n
        else
            sum = serial(n - 1) + serial(n - 2)
        end if
    end function

    recursive integer(8) function fib(n, cutoff) result(sum)
        integer, intent(in) :: n, cutoff
        integer(8) :: a, b
        if (n < 2 .or. n < cutoff) then
            sum = serial(n)
            return
        end if
        !$omp task shared(a) firstprivate(n, cutoff)
        a = fib(n - 1, cutoff)
        !$omp end task
        !$omp task shared(b) firstprivate(n, cutoff)
        b = fib(n - 2, cutoff)
        !$omp end task
        !$omp taskwait
        sum = a + b
    end function
end module

program main
    use fibonacci
    implicit none
    integer :: n, cutoff, i
    integer(8) :: found, expected, next, sum
    n = number(1, 30)
    cutoff = number(2, 0)
    !$omp parallel
    !$omp single
    found = fib(n, cutoff)
    !$omp end single
    !$omp end parallel
    expected = 0
    next = 1
    do i = 1, n
        sum = expected + next
        expected = next
        next = sum
    end do
    if (found /= expected) then
        print "(a)", "wrong result"
        error stop 1
    end if

contains

    ! The argument at this place, or `otherwise` if there is none.
    integer function number(at, otherwise)
        integer, intent(in) :: at, otherwise
        character(len=20) :: text
        call get_command_argument(at, text)
        number = otherwise
        if (text /= "") read (text, *) number
    end function
end program
