! What programs of this folder in Fortran are made of, as `cost.h` for those in C.
module costs
    use, intrinsic :: iso_c_binding, only: c_int, c_int64_t
    use omp_lib
    use workspan
    implicit none
    private
    public :: cost, add_case, run_cases, team

    ! Nanoseconds of CPU time per unit; 0 for the virtual clock.
    integer(c_int64_t), save :: unit_nanos = 0
    ! Units so far, with the virtual clock.
    integer(c_int64_t), save :: units_spent = 0
    ! Threads of a team.
    integer, save :: team = 1

    abstract interface
        subroutine case_body()
        end subroutine
    end interface

    type test_case
        character(len=40) :: name
        character(len=8) :: how
        procedure(case_body), pointer, nopass :: run
        integer :: work, span
    end type

    type(test_case), save :: cases(64)
    integer, save :: case_count = 0

    type, bind(c) :: timespec
        integer(c_int64_t) :: seconds, nanos
    end type

    interface
        function clock_gettime(clock, at) result(status) bind(c, name="clock_gettime")
            import :: c_int, timespec
            integer(c_int), value :: clock
            type(timespec), intent(out) :: at
            integer(c_int) :: status
        end function
    end interface

contains

    ! CPU time of this thread.
    function cpu_nanos() result(nanos)
        integer(c_int64_t) :: nanos
        type(timespec) :: at
        integer(c_int) :: status
        ! CLOCK_THREAD_CPUTIME_ID
        status = clock_gettime(3_c_int, at)
        nanos = at%seconds*1000000000_c_int64_t + at%nanos
    end function

    ! Computes until the thread has used so many nanoseconds of CPU time.
    subroutine spin(nanos)
        integer(c_int64_t), intent(in) :: nanos
        integer(c_int64_t) :: finish
        integer(c_int64_t), volatile :: x
        integer :: i
        x = 1
        finish = cpu_nanos() + nanos
        do while (cpu_nanos() < finish)
            do i = 1, 200
                x = ieor(x, ishft(x, 7)) + 1
            end do
        end do
    end subroutine

    ! Takes so many units.
    subroutine cost(units)
        integer, intent(in) :: units
        if (unit_nanos > 0) then
            call spin(units*unit_nanos)
        else
            !$omp atomic
            units_spent = units_spent + units
            call workspan_tick(units)
        end if
    end subroutine

    ! Lists a case: its name, its code, its work and span in units, and how the answer is to be taken.
    subroutine add_case(name, run, work, span, how)
        character(len=*), intent(in) :: name
        procedure(case_body) :: run
        integer, intent(in) :: work, span
        character(len=*), intent(in), optional :: how
        case_count = case_count + 1
        cases(case_count)%name = name
        cases(case_count)%run => run
        cases(case_count)%work = work
        cases(case_count)%span = span
        cases(case_count)%how = "exact"
        if (present(how)) cases(case_count)%how = how
    end subroutine

    ! What the program does; `list_cases` lists them, and may use `team`.
    subroutine run_cases(list_cases)
        procedure(case_body) :: list_cases
        character(len=40) :: name, argument
        integer :: i, status
        ! The environment, so that a case without OpenMP remains one.
        call get_environment_variable("OMP_NUM_THREADS", argument, status=status)
        if (status == 0) then
            read (argument, *) team
        else
            team = omp_get_max_threads()
        end if
        call list_cases()
        call get_command_argument(1, name)
        if (name == "list") then
            do i = 1, case_count
                print "(a, 1x, i0, 1x, i0, 1x, a)", trim(cases(i)%name), cases(i)%work, cases(i)%span, trim(cases(i)%how)
            end do
            return
        end if
        call get_command_argument(2, argument)
        if (argument /= "") read (argument, *) unit_nanos
        do i = 1, case_count
            if (name /= cases(i)%name) cycle
            call cases(i)%run()
            if (unit_nanos == 0 .and. units_spent /= cases(i)%work) then
                print "(a, a, i0, a, i0)", trim(name), ": ", units_spent, " units, not ", cases(i)%work
                error stop 1
            end if
            return
        end do
        print "(a)", "usage: PROGRAM list | PROGRAM CASE [NANOS]"
        error stop 2
    end subroutine
end module
