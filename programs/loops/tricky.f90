! Loops that nearly are reductions, counters, private variables. Labels as in arrays.c.
module st
  implicit none
  integer, parameter :: n = 40, dp = kind(1d0)
  real(dp) :: a(n), b(n), c(n), s, t
  integer :: k(n), m, at, cnt, flags(8)
  logical :: any_neg, found
  complex(dp) :: z
  type acc
    real(dp) :: sum = 0
    integer :: n = 0
    real(dp) :: v(n)
  end type
contains
  subroutine members(q)
    type(acc), intent(inout) :: q
    integer :: i
    do i = 1, n ! @clauses
      q%sum = q%sum + a(i)
      q%n = q%n + 1
    end do
    do i = 1, n ! @serial
      q%sum = q%sum + a(i)
      q%v(i) = q%sum
    end do
    do i = 1, n ! @parallel
      q%v(i) = a(i)
    end do
    do i = 2, n ! @serial
      q%v(i) = q%v(i) + q%v(i-1)
    end do
  end subroutine
  subroutine dummy(x, y, w, k2)
    integer, intent(in) :: k2
    real(dp), intent(inout) :: x(*), y(*), w
    integer :: i, j
    do i = 1, k2 ! @clauses
      w = w + x(i)
    end do
    do i = 1, k2 ! @serial
      w = w + x(i)
      y(i) = w
    end do
    j = 0
    do i = 1, k2 ! @clauses
      j = j + 2
      y(i) = x(mod(j, k2) + 1)
    end do
    do i = 1, k2 ! @serial
      if (x(i) > 5) j = j + 1
      y(i) = j
    end do
  end subroutine
end module
program tricky
  use st
  implicit none
  integer :: i, j, last, hops
  real(dp) :: mx, mn, prev, r
  integer :: ir
  type(acc) :: q
  do i = 1, n ! @parallel
    a(i) = mod(i * 7, 11); b(i) = i; k(i) = mod(i * 3, n) + 1
  end do
  s = 0
  do i = 1, n ! @serial
    s = s + a(i)
    b(i) = s
  end do
  mx = -1
  do i = 1, n ! @serial
    mx = max(mx, a(i))
    c(i) = mx
  end do
  mx = -1; at = 0
  do i = 1, n ! @serial
    if (a(i) > mx) then
      mx = a(i); at = i
    end if
  end do
  mn = 1d9
  do i = 1, n ! @clauses
    if (a(i) < mn) mn = a(i)
  end do
  ir = 1
  do i = 1, n ! @serial
    ir = int(ir * 1.01d0) + 1
  end do
  do i = 1, n ! @serial
    ir = ir * 3 + k(i)
    ir = mod(ir, 1009)
  end do
  prev = 0
  do i = 1, n ! @serial
    c(i) = a(i) - prev
    prev = a(i)
  end do
  last = 0
  do i = 1, n ! @serial
    if (k(i) == 4) last = i
  end do
  found = .false.
  do i = 1, n ! @clauses
    if (k(i) == 4) found = .true.
  end do
  any_neg = .false.
  do i = 1, n ! @clauses
    any_neg = any_neg .or. a(i) < 0
  end do
  cnt = 0
  do i = 1, n ! @serial
    if (a(i) > 3) then
      cnt = cnt + 1
      b(cnt) = a(i)
    end if
  end do
  z = (1d0, 0d0)
  do i = 1, n ! @serial
    z = z * cmplx(a(i), 1d0, dp) / 10
  end do
  t = 0
  do i = 1, n ! @serial
    t = t * 0.5d0 + a(i)
  end do
  do i = 1, n ! @clauses
    flags(mod(i, 8) + 1) = flags(mod(i, 8) + 1) + k(i)
  end do
  do i = 1, n ! @serial
    flags(mod(i, 8) + 1) = i
  end do
  do i = 1, n - 1 ! @serial
    a(i + 1) = a(i) + b(i)
  end do
  do i = 1, n - 1 ! @serial
    a(i) = a(i + 1)
  end do
  do i = 1, n - 1, 2 ! @parallel
    a(i) = a(i + 1)
  end do
  do i = 1, n ! @parallel
    c(k(i)) = a(i)
  end do
  do i = 1, n ! @serial
    c(k(i) / 2 + 1) = a(i)
  end do
  do j = 1, 3 ! @serial
    do i = 2, n ! @serial
      c(i) = c(i - 1) + j
    end do
  end do
  i = 1; hops = 0
  do while (i < n) ! @serial
    i = i + 1 + mod(k(i), 3)
    hops = hops + 1
  end do
  do i = 2, n ! @clauses
    c(1:i) = c(1:i) + a(i)
  end do
  do i = 1, n - 3 ! @serial
    b(i+1:i+3) = b(i:i+2)
  end do
  do i = 1, n / 4 ! @parallel
    b(4*i-3:4*i) = a(4*i-3:4*i) * 2
  end do
  r = 0
  do i = 1, n ! @clauses
    r = r + sum(a(1:i))
  end do
  do i = 2, n ! @serial
    a(i) = sum(a(1:i-1)) / i
  end do
  do i = 1, n ! @parallel
    c(i) = maxval(b) - b(i) * 0
  end do
  call members(q)
  call dummy(a, b, s, n)
  print *, s, mx, mn, ir, prev, last, found, any_neg, cnt, real(z), t, flags(2), hops, r, q%sum, at, sum(c)
end program
