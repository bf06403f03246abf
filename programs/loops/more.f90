! Loops of Fortran over sections, with counters by reference. A label says what a careful reader finds.
module cells
  implicit none
  integer, parameter :: n = 40
  real(8) :: a(n), b(n), c(n, n), d(n, n), total
  integer :: keys(n), hist(8)
contains
  subroutine scale(i, by)
    integer, intent(in) :: i
    real(8), intent(in) :: by
    a(i) = a(i) * by
  end subroutine
  real(8) function area(x)
    real(8), intent(in) :: x(:)
    integer :: k
    area = 0
    do k = 1, size(x) ! @clauses
      area = area + x(k) * x(k)
    end do
  end function
  subroutine sections
    integer :: i
    do i = 1, n ! @parallel
      c(:, i) = i
    end do
    do i = 1, n ! @parallel
      d(i, :) = c(i, :) + 1
    end do
    do i = 2, n ! @serial
      c(:, i) = c(:, i - 1) + d(:, i)
    end do
    do i = 1, n ! @parallel
      a(i) = sum(c(:, i)) / n
    end do
    do i = 1, n / 2 ! @parallel
      d(:, i) = d(:, i + n / 2)
    end do
    do i = 1, n - 1 ! @serial
      b(i:i + 1) = a(i:i + 1)
    end do
  end subroutine
  subroutine calls
    integer :: i, k
    real(8) :: t
    do i = 1, n ! @parallel
      call scale(i, 2d0)
    end do
    do i = 1, n ! @parallel
      b(i) = area(c(:, i))
    end do
    k = 0
    do i = 1, n ! @clauses
      k = k + 2
      keys(i) = k
    end do
    do i = 1, n ! @clauses
      t = a(i) + b(i)
      if (t > 10) t = 10
      a(i) = t
    end do
    do i = 2, n ! @serial
      t = a(i - 1)
      a(i) = t * 0.5d0
    end do
    do i = 1, n ! @clauses
      hist(mod(keys(i), 8) + 1) = hist(mod(keys(i), 8) + 1) + 1
    end do
    total = 0
    do i = 1, n ! @clauses
      total = max(total, a(i), b(i))
    end do
    do i = 1, n ! @serial
      if (a(i) > 1d9) exit
      total = total + a(i)
    end do
    do concurrent (i = 1:n) ! @parallel
      b(i) = a(n + 1 - i)
    end do
  end subroutine
end module
program more
  use cells
  implicit none
  integer :: i
  a = 1; b = 2; hist = 0
  call sections
  call calls
  do i = 1, 3 ! @serial
    print *, a(i), hist(i)
  end do
  print *, total, c(3, 4), d(5, 6), b(7)
end program
