! Variables that only called procedures name: of a host, of a dummy of any extended type, of a text of any length.
module parts
  implicit none
  type room
    real(8) :: f(4)
  end type
contains
  subroutine fill(z, v)
    class(room), intent(inout) :: z
    real(8), intent(in) :: v
    z%f = v
  end subroutine
  real(8) function used(z)
    class(room), intent(in) :: z
    used = z%f(2)
  end function
  subroutine spell(c, i)
    character(len=*), intent(out) :: c
    integer, intent(in) :: i
    c = repeat(achar(65 + mod(i, 26)), len(c))
  end subroutine
  integer function third(c)
    character(len=*), intent(in) :: c
    third = iachar(c(3:3))
  end function
end module

subroutine work(x, y)
  use parts
  implicit none
  real(8), intent(in) :: x(100)
  real(8), intent(inout) :: y(100)
  real(8) :: w(4)
  integer :: i
  type(room) :: z
  character(len=8) :: text
  do i = 1, 100 ! @clauses
    call fill(z, x(i))
    y(i) = y(i) + used(z)
  end do
  do i = 1, 100 ! @clauses
    call spell(text, i)
    y(i) = y(i) + third(text)
  end do
  do i = 1, 100 ! @clauses
    call fillw(x(i))
    call usew(i)
  end do
  do i = 1, 100 ! @parallel
    call addone(i)
  end do
contains
  subroutine fillw(v)
    real(8), intent(in) :: v
    w = v
  end subroutine
  subroutine usew(i)
    integer, intent(in) :: i
    y(i) = y(i) + w(2)
  end subroutine
  subroutine addone(i)
    integer, intent(in) :: i
    y(i) = y(i) + 1
  end subroutine
end subroutine

program hosts
  implicit none
  real(8) :: x(100), y(100)
  integer :: i
  do i = 1, 100 ! @parallel
    x(i) = mod(i * 7, 13)
    y(i) = 0
  end do
  call work(x, y)
  print *, sum(y)
end program
