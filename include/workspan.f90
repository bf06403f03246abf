! What a Fortran program may report to Workspan while it is recorded. Nothing needs to be linked: compile this file with the
! program, and without Workspan every call is a load and a test.
!
!     use workspan
!     call workspan_region_begin(1)
!     ...                           ! what-if region 1: what if this were faster, or parallel?
!     call workspan_region_end(1)
!
! Regions may nest, and may be entered by many tasks at once; begin and end must be called by the same task. Numbers are
! the program's own, from 0 up.
!
! The collector's functions are looked up once each, as Fortran has no weak symbols.
module workspan
    use, intrinsic :: iso_c_binding
    implicit none
    private
    public :: workspan_tick, workspan_region_begin, workspan_region_end

    ! Commands of `workspan_mark`, as in workspan.h.
    integer(c_int), parameter :: begin_region = 1, end_region = 2

    ! Addresses of the collector's functions: 0 if there is none. Threads may look one up at the same time, and then
    ! write the same number.
    integer(c_intptr_t), parameter :: unknown = -1
    integer(c_intptr_t), volatile, save :: tick_address = unknown, mark_address = unknown

    abstract interface
        subroutine tick_function(ticks) bind(c)
            import :: c_int64_t
            integer(c_int64_t), value :: ticks
        end subroutine

        subroutine mark_function(command, id) bind(c)
            import :: c_int
            integer(c_int), value :: command, id
        end subroutine
    end interface

    interface
        function dlsym(library, name) result(address) bind(c, name="dlsym")
            import :: c_ptr, c_char, c_intptr_t
            type(c_ptr), value :: library
            character(kind=c_char), intent(in) :: name(*)
            integer(c_intptr_t) :: address
        end function
    end interface

    ! Advances the virtual clock of the calling thread, for exact tests; with the real clock it has no effect.
    interface workspan_tick
        module procedure tick_short, tick_long
    end interface

contains

    subroutine tick_short(ticks)
        integer(c_int32_t), intent(in) :: ticks
        call tick_long(int(ticks, c_int64_t))
    end subroutine

    subroutine tick_long(ticks)
        integer(c_int64_t), intent(in) :: ticks
        procedure(tick_function), pointer :: tick
        integer(c_intptr_t) :: address
        address = tick_address
        if (address == unknown) then
            address = dlsym(c_null_ptr, "workspan_tick"//c_null_char)
            tick_address = address
        end if
        if (address == 0) return
        call c_f_procpointer(transfer(address, c_null_funptr), tick)
        call tick(ticks)
    end subroutine

    ! What follows, up to the matching end, belongs to region `id`.
    subroutine workspan_region_begin(id)
        integer, intent(in) :: id
        call mark(begin_region, int(id, c_int))
    end subroutine

    ! Ends the region `id` that this task has begun last.
    subroutine workspan_region_end(id)
        integer, intent(in) :: id
        call mark(end_region, int(id, c_int))
    end subroutine

    subroutine mark(command, id)
        integer(c_int), intent(in) :: command, id
        procedure(mark_function), pointer :: collector
        integer(c_intptr_t) :: address
        address = mark_address
        if (address == unknown) then
            address = dlsym(c_null_ptr, "workspan_mark"//c_null_char)
            mark_address = address
        end if
        if (address == 0) return
        call c_f_procpointer(transfer(address, c_null_funptr), collector)
        call collector(command, id)
    end subroutine
end module
