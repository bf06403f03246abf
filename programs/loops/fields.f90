! Allocatable arrays, types with procedures, blocks, files. Labels as in arrays.c.
module grid_mod
  implicit none
  integer, parameter :: dp = kind(1d0), n = 24
  type cell
    real(dp) :: t = 0, q = 0
    integer :: kind = 0
  end type
  type field
    real(dp), allocatable :: v(:, :)
    type(cell), allocatable :: c(:)
    integer :: nx = 0, ny = 0
  contains
    procedure :: setup, advance, total, bump
  end type
  type(field) :: world
  real(dp), allocatable :: a(:), b(:), m(:, :)
  real(dp) :: acc
contains
  subroutine setup(self, k)
    class(field), intent(inout) :: self
    integer, intent(in) :: k
    integer :: i, j
    self%nx = k; self%ny = k
    allocate(self%v(k, k), self%c(k))
    do j = 1, k ! @parallel
      do i = 1, k ! @parallel
        self%v(i, j) = i + j
      end do
    end do
    do i = 1, k ! @parallel
      self%c(i)%t = i
      self%c(i)%kind = mod(i, 3)
    end do
  end subroutine
  subroutine advance(self)
    class(field), intent(inout) :: self
    real(dp), allocatable :: new(:, :)
    integer :: i, j
    allocate(new(self%nx, self%ny))
    new = self%v
    do j = 2, self%ny - 1 ! @parallel
      do i = 2, self%nx - 1 ! @parallel
        new(i, j) = 0.25_dp * (self%v(i-1, j) + self%v(i+1, j) + self%v(i, j-1) + self%v(i, j+1))
      end do
    end do
    call move_alloc(new, self%v)
    do i = 2, self%nx ! @serial
      self%c(i)%q = self%c(i-1)%q + self%c(i)%t
    end do
  end subroutine
  function total(self) result(s)
    class(field), intent(in) :: self
    real(dp) :: s
    integer :: i
    s = 0
    do i = 1, self%nx ! @clauses
      s = s + self%c(i)%t
    end do
  end function
  subroutine bump(self, i)
    class(field), intent(inout) :: self
    integer, intent(in) :: i
    self%c(i)%t = self%c(i)%t + 1
  end subroutine
  recursive function depth(k) result(d)
    integer, intent(in) :: k
    integer :: d
    if (k <= 1) then
      d = 1
    else
      d = 1 + depth(k / 2)
    end if
  end function
  subroutine swap(x, y)
    real(dp), intent(inout) :: x, y
    real(dp) :: t
    t = x; x = y; y = t
  end subroutine
  subroutine accumulate(x)
    real(dp), intent(in) :: x
    acc = acc + x
  end subroutine
  subroutine solve(lo, di, up, rhs, k)
    integer, intent(in) :: k
    real(dp), intent(inout) :: lo(k), di(k), up(k), rhs(k)
    integer :: i
    real(dp) :: w
    do i = 2, k ! @serial
      w = lo(i) / di(i-1)
      di(i) = di(i) - w * up(i-1)
      rhs(i) = rhs(i) - w * rhs(i-1)
    end do
    rhs(k) = rhs(k) / di(k)
    do i = k - 1, 1, -1 ! @serial
      rhs(i) = (rhs(i) - up(i) * rhs(i+1)) / di(i)
    end do
  end subroutine
end module
program main2
  use grid_mod
  implicit none
  integer :: i, j, k, it, cnt, ip(n), tmp, info
  real(dp) :: s, x(n), y(n), z(n), p, r, tol, best, w(0:3), buf(4)
  real(dp), allocatable :: rows(:, :), v(:)
  logical :: mask(n), done
  character(len=20) :: line, names(n)
  call world%setup(n)
  do it = 1, 3 ! @serial
    call world%advance()
  end do
  allocate(a(n), b(n), m(n, n), rows(n, n))
  do i = 1, n ! @parallel
    a(i) = sqrt(real(i, dp)); b(i) = mod(i * 5, n); ip(i) = mod(i * 7, n) + 1
  end do
  do j = 1, n ! @parallel
    m(:, j) = a * b(j)
  end do
  do j = 1, n ! @parallel
    m(:, j) = m(:, j) / maxval(abs(m(:, j)) + 1)
  end do
  do j = 1, n ! @parallel
    rows(j, :) = m(j, n:1:-1)
  end do
  do i = 1, n ! @parallel
    x(i) = dot_product(rows(i, :), a)
  end do
  s = 0
  do i = 1, n ! @clauses
    s = s + sum(rows(:, i)) * x(i)
  end do
  y = 0
  do i = 1, n
    y = y + rows(:, i) * x(i)
  end do
  do i = 1, n ! @parallel
    call world%bump(i)
  end do
  acc = 0
  do i = 1, n ! @clauses
    call accumulate(a(i))
  end do
  do i = 1, n ! @parallel
    ip(i) = depth(ip(i))
  end do
  do i = 1, n / 2 ! @parallel
    call swap(a(i), a(n + 1 - i))
  end do
  do i = 1, n - 1 ! @serial
    call swap(b(i), b(i + 1))
  end do
  z = 4; x = 1; y = 1
  do j = 1, 4 ! @clauses
    w = real(j, dp)
    buf(j) = w(0) + w(3)
  end do
  call solve(x, z, y, b, n)
  do k = 1, n - 1 ! @serial
    do i = k + 1, n ! @parallel
      m(i, k) = m(i, k) / (m(k, k) + 10)
    end do
    do j = k + 1, n ! @parallel
      m(k+1:n, j) = m(k+1:n, j) - m(k+1:n, k) * m(k, j)
    end do
  end do
  mask = a > 2
  cnt = 0
  do i = 1, n ! @clauses
    if (mask(i)) cnt = cnt + 1
  end do
  k = 0
  do i = 1, n ! @serial
    if (mask(i)) then
      k = k + 1
      z(k) = a(i)
    end if
  end do
  best = huge(best)
  do i = 1, n ! @clauses
    if (a(i) < best) best = a(i)
  end do
  best = -1; tmp = 0
  do i = 1, n ! @serial
    if (a(i) > best) then
      best = a(i); tmp = i
    end if
  end do
  done = .false.; it = 0; r = 1
  do while (.not. done) ! @serial
    r = r * 0.5_dp; it = it + 1
    done = r < 1d-3 .or. it > 50
  end do
  p = 1
  do i = 1, 10 ! @clauses
    p = p * (1 + 0.1_dp * i)
  end do
  tol = 0
  do i = 2, n ! @clauses
    tol = max(tol, abs(a(i) - a(i-1)))
  end do
  do i = 1, n
    write(names(i), '(a,i0)') 'n', i
  end do
  do i = 1, n ! @parallel
    names(i)(1:1) = 'q'
  end do
  line = ' '
  do i = 1, 5 ! @serial
    line = trim(line) // 'x'
  end do
  do i = 1, n ! @parallel
    select case (mod(i, 4))
    case (0)
      z(i) = 1
    case (1, 2)
      z(i) = a(i)
    case default
      z(i) = -1
    end select
  end do
  do i = 1, n ! @parallel
    if (z(i) < 0) cycle
    z(i) = merge(z(i), 0d0, mask(i))
  end do
  allocate(v(0))
  do i = 1, 6 ! @serial
    v = [v, real(i, dp)]
  end do
  do i = 1, n ! @parallel
    block
      real(dp) :: t(3)
      t = [a(i), b(i), 1d0]
      z(i) = sum(t)
    end block
  end do
  do concurrent (i = 1:n) local(r) ! @parallel
    r = a(i)
    z(i) = r * r
  end do
  do i = 1, n ! @parallel
    associate (c => world%c(i))
      c%q = c%t * 2
    end associate
  end do
  info = 0
  do i = 1, n ! @clauses
    info = info + merge(1, 0, world%c(i)%kind == 1)
  end do
  open(10, file='fields.tmp')
  do i = 1, 3 ! @serial
    write(10, *) i
  end do
  rewind(10)
  do i = 1, 3 ! @serial
    read(10, *) ip(i)
  end do
  close(10, status='delete')
  print *, s, sum(y), acc, sum(b), cnt, best, tmp, it, p, tol, trim(names(3)), trim(line), sum(z), size(v), info, world%total(), buf(2), sum(ip)
end program
