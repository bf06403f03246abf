! Loops of the shapes that suites of Fortran programs label.
program suites
  implicit none
  integer, parameter :: n = 40
  real(8) :: a(n), b(n), q(n,n), s, t, carry
  real(8), allocatable :: c(:), d(:)
  integer :: i, j, ix(n)
  allocate(c(n), d(n))
  do i = 1, n ! @parallel
    a(i) = 0.5d0 * i
    ix(i) = n + 1 - i
  end do
  do i = 1, n ! @parallel
    c(ix(i)) = a(i)
  end do
  s = 1
  do i = 1, n ! @serial
    s = s * 0.5d0 + a(i)
  end do
  t = 0
  do i = 1, n ! @clauses
    t = max(t, a(i))
  end do
  do i = 1, n - 2 ! @serial
    a(i + 2) = a(i) + c(i)
  end do
  do i = 1, n ! @parallel
    if (c(i) > 3) then
      b(i) = c(i)
    else
      b(i) = 0
    end if
  end do
  do i = 1, n ! @serial
    if (b(i) > 1000) exit
    b(i) = b(i) + 1
  end do
  do j = 2, n ! @serial
    do i = 1, n ! @parallel
      q(i, j) = q(i, j - 1) + 1
    end do
  end do
  do i = 1, n ! @serial
    call step(carry, a(i))
  end do
  do i = 1, 4 ! @serial
    print *, a(i)
  end do
  do i = 1, n ! @serial
    c = c + d
  end do
  print *, s, t, carry, q(3, 3), c(2)
contains
  subroutine step(x, y)
    real(8), intent(inout) :: x
    real(8), intent(in) :: y
    x = 0.9d0 * x + y
  end subroutine
end program
