! Sections, where, do concurrent, procedures of a module that keep state. Labels as in arrays.c.
module work
  implicit none
  integer, parameter :: n = 40
  real(8) :: a(n), b(n), c(n, n), d(n, n), total
  integer :: idx(n), hist(0:7), pos
  type cell
    real(8) :: mass, v(3)
    integer :: hits
  end type
  type(cell) :: cells(n)
contains
  real(8) function f(x)
    real(8), intent(in) :: x
    f = x * x + 1
  end function
  subroutine accumulate(x)
    real(8), intent(in) :: x
    total = total + x
  end subroutine
  subroutine push(x)
    integer, intent(in) :: x
    pos = pos + 1
    idx(pos) = x
  end subroutine
  recursive integer function ack(m) result(r)
    integer, intent(in) :: m
    if (m < 2) then
      r = m
    else
      r = ack(m - 1) + ack(m - 2)
    end if
  end function
  subroutine row(x, y, m)
    integer, intent(in) :: m
    real(8), intent(in) :: x(m)
    real(8), intent(out) :: y(m)
    integer :: k
    do k = 1, m                                ! @parallel
      y(k) = x(k) * 2
    end do
  end subroutine
end module
program main
  use work
  implicit none
  integer :: i, j, k, count_, last
  real(8) :: s, m, t, w(n), x
  logical :: found, mask(n)
  do i = 1, n                                  ! @parallel
    a(i) = mod(i * 7, 13)
  end do
  do i = 1, n                                  ! @parallel
    c(:, i) = a * i
  end do
  do i = 2, n                                  ! @serial
    c(:, i) = c(:, i) + c(:, i - 1)
  end do
  do i = 1, n                                  ! @clauses
    w(1:5) = a(i)
    b(i) = sum(w(1:5))
  end do
  where (a > 5)
    b = 0
  elsewhere
    b = a
  end where
  do j = 1, n                                  ! @parallel
    where (c(:, j) > 100) c(:, j) = 100
  end do
  s = 0; m = -huge(m); count_ = 0
  do i = 1, n                                  ! @clauses
    s = s + f(a(i))
    m = max(m, a(i))
    if (a(i) > 3) count_ = count_ + 1
  end do
  total = 0
  do i = 1, n                                  ! @clauses
    call accumulate(a(i))
  end do
  pos = 0
  do i = 1, n                                  ! @serial
    call push(i)
  end do
  hist = 0
  do i = 1, n                                  ! @clauses
    k = int(mod(a(i), 8.0d0))
    hist(k) = hist(k) + 1
  end do
  do i = 1, n                                  ! @parallel
    cells(i)%mass = i
    cells(i)%v = 0
    cells(i)%hits = 0
  end do
  do i = 1, n                                  ! @clauses
    j = mod(i, 4) + 1
    cells(j)%hits = cells(j)%hits + 1
  end do
  do i = 1, n                                  ! @parallel
    call row(c(:, i), d(:, i), n)
  end do
  do j = 2, n                                  ! @serial
    do i = 2, n                                ! @serial
      d(i, j) = d(i - 1, j) + d(i, j - 1)
    end do
  end do
  found = .false.
  do i = 1, n                                  ! @clauses
    if (a(i) == 4) found = .true.
  end do
  do i = 1, n                                  ! @serial
    if (a(i) == 11) exit
  end do
  last = 0
  do i = 1, n                                  ! @serial
    if (a(i) > 10) last = i
  end do
  do i = 1, n                                  ! @clauses
    t = a(i) * 2
    b(i) = t + t * t
  end do
  do i = 1, n - 1                              ! @serial
    a(i + 1) = a(i) * 0.5d0 + b(i)
  end do
  do i = n, 1, -1                              ! @parallel
    b(i) = a(i) + i
  end do
  do i = 1, n, 2                               ! @parallel
    if (i < n) b(i) = b(i + 1)
  end do
  do concurrent (i = 1:n)                      ! @parallel
    a(i) = b(i) + c(i, i)
  end do
  x = 0
  do while (x < 10)                            ! @serial
    x = x + f(x) / 4
  end do
  do i = 1, 12                                 ! @parallel
    idx(i) = ack(i)
  end do
  do i = 1, n                                  ! @parallel
    d(i, :) = matmul(c, b)
  end do
  do i = 1, n                                  ! @clauses
    s = s + dot_product(c(:, i), b)
  end do
  mask = a > 3
  do i = 1, n                                  ! @serial
    if (mask(i)) then
      last = last + 1
      w(min(last, n)) = a(i)
    end if
  end do
  do i = 1, 3                                  ! @serial
    print *, b(i), s, m, count_, total, hist(2), found, last, w(1)
  end do
end program
