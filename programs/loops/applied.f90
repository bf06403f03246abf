! Loops of small programs as they are written today; labels stand behind them.
module types
  implicit none
  integer, parameter :: dp = kind(1.0d0)
  type :: vec3
    real(dp) :: x = 0, y = 0, z = 0
  contains
    procedure :: norm2 => vnorm2
  end type
  type :: body
    type(vec3) :: p, v, f
    real(dp) :: m = 1
  end type
  interface operator(+)
    module procedure vadd
  end interface
  interface operator(-)
    module procedure vsub
  end interface
  interface operator(*)
    module procedure vscale
  end interface
contains
  pure function vadd(a, b) result(c)
    type(vec3), intent(in) :: a, b
    type(vec3) :: c
    c%x = a%x + b%x; c%y = a%y + b%y; c%z = a%z + b%z
  end function
  pure function vsub(a, b) result(c)
    type(vec3), intent(in) :: a, b
    type(vec3) :: c
    c%x = a%x - b%x; c%y = a%y - b%y; c%z = a%z - b%z
  end function
  pure function vscale(s, b) result(c)
    real(dp), intent(in) :: s
    type(vec3), intent(in) :: b
    type(vec3) :: c
    c%x = s*b%x; c%y = s*b%y; c%z = s*b%z
  end function
  pure function vnorm2(this) result(r)
    class(vec3), intent(in) :: this
    real(dp) :: r
    r = this%x**2 + this%y**2 + this%z**2
  end function
end module
module work
  use types
  implicit none
contains
  subroutine nbody(b, n)
    integer, intent(in) :: n
    type(body), intent(inout) :: b(n)
    integer :: i, j, step
    type(vec3) :: f, d
    real(dp) :: r2
    do step = 1, 3 ! @serial
      do i = 1, n ! @clauses
        f = vec3()
        do j = 1, n
          if (i == j) cycle
          d = b(j)%p - b(i)%p
          r2 = d%norm2() + 1d-9
          f = f + (b(i)%m*b(j)%m/(r2*sqrt(r2)))*d
        end do
        b(i)%f = f
      end do
      do i = 1, n ! @parallel
        b(i)%v = b(i)%v + (0.01d0/b(i)%m)*b(i)%f
        b(i)%p = b(i)%p + 0.01d0*b(i)%v
      end do
    end do
  end subroutine
  subroutine matmul3(a, b, c, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: a(n, n), b(n, n)
    real(dp), intent(out) :: c(n, n)
    integer :: i, j, k
    do j = 1, n ! @parallel
      do i = 1, n ! @parallel
        c(i, j) = 0
        do k = 1, n ! @clauses
          c(i, j) = c(i, j) + a(i, k)*b(k, j)
        end do
      end do
    end do
  end subroutine
  subroutine lu(a, n)
    integer, intent(in) :: n
    real(dp), intent(inout) :: a(n, n)
    integer :: i, j, k
    do k = 1, n - 1 ! @serial
      do i = k + 1, n ! @parallel
        a(i, k) = a(i, k)/a(k, k)
      end do
      do j = k + 1, n ! @parallel
        do i = k + 1, n ! @parallel
          a(i, j) = a(i, j) - a(i, k)*a(k, j)
        end do
      end do
    end do
  end subroutine
  subroutine heat(u, un, n, steps, err)
    integer, intent(in) :: n, steps
    real(dp), intent(inout) :: u(n, n), un(n, n)
    real(dp), intent(out) :: err
    integer :: i, j, s
    do s = 1, steps ! @serial
      err = 0
      do j = 2, n - 1 ! @clauses
        do i = 2, n - 1 ! @clauses
          un(i, j) = 0.25d0*(u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
          err = max(err, abs(un(i, j) - u(i, j)))
        end do
      end do
      u(2:n - 1, 2:n - 1) = un(2:n - 1, 2:n - 1)
      if (err < 1d-12) exit
    end do
  end subroutine
  subroutine sor(u, n)
    integer, intent(in) :: n
    real(dp), intent(inout) :: u(n, n)
    integer :: i, j
    do j = 2, n - 1 ! @serial
      do i = 2, n - 1 ! @serial
        u(i, j) = 0.25d0*(u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
      end do
    end do
  end subroutine
  subroutine redblack(u, n)
    integer, intent(in) :: n
    real(dp), intent(inout) :: u(n, n)
    integer :: i, j, c
    do c = 0, 1 ! @serial
      do j = 2, n - 1 ! @parallel
        do i = 2 + mod(j + c, 2), n - 1, 2 ! @parallel
          u(i, j) = 0.25d0*(u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1))
        end do
      end do
    end do
  end subroutine
  subroutine spmv(n, ptr, col, val, x, y)
    integer, intent(in) :: n, ptr(:), col(:)
    real(dp), intent(in) :: val(:), x(:)
    real(dp), intent(out) :: y(:)
    integer :: i, k
    real(dp) :: s
    do i = 1, n ! @clauses
      s = 0
      do k = ptr(i), ptr(i + 1) - 1 ! @clauses
        s = s + val(k)*x(col(k))
      end do
      y(i) = s
    end do
  end subroutine
  subroutine thomas(a, b, c, d, x, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: a(n), c(n)
    real(dp), intent(inout) :: b(n), d(n)
    real(dp), intent(out) :: x(n)
    integer :: i
    real(dp) :: w
    do i = 2, n ! @serial
      w = a(i)/b(i - 1)
      b(i) = b(i) - w*c(i - 1)
      d(i) = d(i) - w*d(i - 1)
    end do
    x(n) = d(n)/b(n)
    do i = n - 1, 1, -1 ! @serial
      x(i) = (d(i) - c(i)*x(i + 1))/b(i)
    end do
  end subroutine
  subroutine fft_stage(re, im, n, m)
    integer, intent(in) :: n, m
    real(dp), intent(inout) :: re(n), im(n)
    integer :: k, j
    real(dp) :: tr, ti, wr, wi
    do k = 1, n, 2*m ! @clauses
      do j = 0, m - 1 ! @clauses
        wr = cos(3.14159d0*j/m); wi = -sin(3.14159d0*j/m)
        tr = wr*re(k + j + m) - wi*im(k + j + m)
        ti = wr*im(k + j + m) + wi*re(k + j + m)
        re(k + j + m) = re(k + j) - tr
        im(k + j + m) = im(k + j) - ti
        re(k + j) = re(k + j) + tr
        im(k + j) = im(k + j) + ti
      end do
    end do
  end subroutine
  subroutine stats(x, n, mean, var, lo, hi, cnt)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp), intent(out) :: mean, var, lo, hi
    integer, intent(out) :: cnt
    integer :: i
    mean = 0; var = 0; lo = huge(lo); hi = -huge(hi); cnt = 0
    do i = 1, n ! @clauses
      mean = mean + x(i)
      lo = min(lo, x(i))
      hi = max(hi, x(i))
      if (x(i) > 0.5d0) cnt = cnt + 1
    end do
    mean = mean/n
    do i = 1, n ! @clauses
      var = var + (x(i) - mean)**2
    end do
    var = var/n
  end subroutine
  subroutine histogram(x, n, h, nb)
    integer, intent(in) :: n, nb
    real(dp), intent(in) :: x(n)
    integer, intent(inout) :: h(nb)
    integer :: i, k
    do i = 1, n ! @clauses
      k = min(nb, 1 + int(x(i)*nb))
      h(k) = h(k) + 1
    end do
  end subroutine
  subroutine rk4(y, n, dt, steps)
    integer, intent(in) :: n, steps
    real(dp), intent(inout) :: y(n)
    real(dp), intent(in) :: dt
    real(dp) :: k1(n), k2(n), k3(n), k4(n)
    integer :: s
    do s = 1, steps ! @serial
      k1 = deriv(y)
      k2 = deriv(y + 0.5d0*dt*k1)
      k3 = deriv(y + 0.5d0*dt*k2)
      k4 = deriv(y + dt*k3)
      y = y + dt/6*(k1 + 2*k2 + 2*k3 + k4)
    end do
  end subroutine
  pure function deriv(y) result(d)
    real(dp), intent(in) :: y(:)
    real(dp) :: d(size(y))
    integer :: i
    do i = 1, size(y) ! @parallel
      d(i) = -y(i)*i
    end do
  end function
  subroutine upwind(u, f, n)
    integer, intent(in) :: n
    real(dp), intent(inout) :: u(0:n + 1), f(0:n)
    integer :: i
    do i = 0, n ! @parallel
      f(i) = 0.5d0*u(i)**2
    end do
    do i = 1, n ! @parallel
      u(i) = u(i) - 0.1d0*(f(i) - f(i - 1))
    end do
    u(0) = u(n); u(n + 1) = u(1)
  end subroutine
  subroutine lcg(x, n, seed)
    integer, intent(in) :: n
    real(dp), intent(out) :: x(n)
    integer, intent(inout) :: seed
    integer :: i
    do i = 1, n ! @serial
      seed = mod(seed*1103 + 12345, 65536)
      x(i) = seed/65536d0
    end do
  end subroutine
  subroutine prefix(a, n)
    integer, intent(in) :: n
    integer, intent(inout) :: a(n)
    integer :: i
    do i = 2, n ! @serial
      a(i) = a(i) + a(i - 1)
    end do
  end subroutine
  subroutine pack_pos(x, n, out, m)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp), intent(out) :: out(n)
    integer, intent(out) :: m
    integer :: i
    m = 0
    do i = 1, n ! @serial
      if (x(i) > 0.5d0) then
        m = m + 1
        out(m) = x(i)
      end if
    end do
  end subroutine
  subroutine writes(x, n)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    integer :: i
    do i = 1, n ! @serial
      write (*, '(f8.3)', advance='no') x(i)
    end do
    print *
  end subroutine
  integer function count_char(s, c) result(k)
    character(*), intent(in) :: s
    character, intent(in) :: c
    integer :: i
    k = 0
    do i = 1, len(s) ! @clauses
      if (s(i:i) == c) k = k + 1
    end do
  end function
  subroutine upper(s)
    character(*), intent(inout) :: s
    integer :: i, c
    do i = 1, len(s) ! @clauses
      c = iachar(s(i:i))
      if (c >= 97 .and. c <= 122) s(i:i) = achar(c - 32)
    end do
  end subroutine
  recursive integer function fib(n) result(r)
    integer, intent(in) :: n
    if (n < 2) then
      r = n
    else
      r = fib(n - 1) + fib(n - 2)
    end if
  end function
  subroutine fibs(f, n)
    integer, intent(in) :: n
    integer, intent(out) :: f(n)
    integer :: i
    do i = 1, n ! @parallel
      f(i) = fib(i)
    end do
  end subroutine
  subroutine wavefront(a, n)
    integer, intent(in) :: n
    real(dp), intent(inout) :: a(n, n)
    integer :: d, i
    do d = 4, 2*n ! @serial
      do i = max(2, d - n), min(n, d - 2) ! @parallel
        a(i, d - i) = 0.5d0*(a(i - 1, d - i) + a(i, d - i - 1))
      end do
    end do
  end subroutine
  subroutine transpose_ip(a, n)
    integer, intent(in) :: n
    real(dp), intent(inout) :: a(n, n)
    real(dp) :: t
    integer :: i, j
    do j = 1, n ! @clauses
      do i = 1, j - 1 ! @clauses
        t = a(i, j)
        a(i, j) = a(j, i)
        a(j, i) = t
      end do
    end do
  end subroutine
  subroutine conc(a, b, n)
    integer, intent(in) :: n
    real(dp), intent(inout) :: a(n), b(n)
    integer :: i
    do concurrent(i=1:n) ! @parallel
      a(i) = 2*b(i)
    end do
    do concurrent(i=1:n, b(i) > 0.5d0)
      a(i) = b(i)
    end do
  end subroutine
  subroutine search(a, n, key, at)
    integer, intent(in) :: n, key, a(n)
    integer, intent(out) :: at
    integer :: i
    at = 0
    do i = 1, n ! @serial
      if (a(i) == key) then
        at = i
        exit
      end if
    end do
  end subroutine
  subroutine lastsearch(a, n, key, at)
    integer, intent(in) :: n, key, a(n)
    integer, intent(out) :: at
    integer :: i
    at = 0
    do i = 1, n
      if (a(i) == key) at = i
    end do
  end subroutine
  subroutine count_vector(ne, nodes, k)
    integer, intent(in) :: ne, nodes(:)
    real(8), intent(inout) :: k(:)
    integer :: e
    do e = 1, ne ! @clauses
      k(nodes(e)) = k(nodes(e)) + 1
    end do
  end subroutine
  subroutine count_matrix(ne, nodes, k)
    integer, intent(in) :: ne, nodes(2, ne)
    real(8), intent(inout) :: k(5, 5)
    integer :: e
    do e = 1, ne ! @clauses
      k(nodes(1, e), nodes(2, e)) = k(nodes(1, e), nodes(2, e)) + 1
    end do
  end subroutine
  subroutine count_shape(ne, nodes, k)
    integer, intent(in) :: ne, nodes(2, ne)
    real(8), intent(inout) :: k(:, :)
    integer :: e
    do e = 1, ne ! @clauses
      k(nodes(1, e), nodes(2, e)) = k(nodes(1, e), nodes(2, e)) + 1
    end do
  end subroutine
  subroutine add_matrix(ne, nodes, ke, k)
    integer, intent(in) :: ne, nodes(2, ne)
    real(8), intent(in) :: ke(2, 2)
    real(8), intent(inout) :: k(5, 5)
    integer :: e, a, b
    do e = 1, ne ! @clauses
      do a = 1, 2
        do b = 1, 2
          k(nodes(a, e), nodes(b, e)) = k(nodes(a, e), nodes(b, e)) + ke(a, b)
        end do
      end do
    end do
  end subroutine
  subroutine add_vector(ne, nodes, ke, k)
    integer, intent(in) :: ne, nodes(2, ne)
    real(8), intent(in) :: ke(2)
    real(8), intent(inout) :: k(:)
    integer :: e, a
    do e = 1, ne ! @clauses
      do a = 1, 2
        k(nodes(a, e)) = k(nodes(a, e)) + ke(a)
      end do
    end do
  end subroutine
  subroutine add_shape(ne, nodes, ke, k)
    integer, intent(in) :: ne, nodes(:, :)
    real(8), intent(in) :: ke(:, :)
    real(8), intent(inout) :: k(:, :)
    integer :: e, a, b
    do e = 1, ne ! @clauses
      do a = 1, 2
        do b = 1, 2
          k(nodes(a, e), nodes(b, e)) = k(nodes(a, e), nodes(b, e)) + ke(a, b)
        end do
      end do
    end do
  end subroutine
end module
program main
  use types
  use work
  implicit none
  integer, parameter :: n = 12
  type(body) :: b(n)
  real(dp) :: a(n, n), c(n, n), d(n, n), x(40), o(40), err, mean, var, lo, hi, u(0:n + 1), f(0:n), re(16), im(16), y(n), stiff(5, 5), load(5), ke(2, 2) = 1
  integer :: i, seed, h(5), m, cnt, fi(10), at, at2, ia(20), nodes(2, 5)
  character(20) :: s
  seed = 17
  call lcg(x, 40, seed)
  do i = 1, n
    b(i)%p = vec3(x(i), x(i + 1), x(i + 2)); b(i)%m = i
  end do
  call nbody(b, n)
  do i = 1, n
    a(:, i) = x(i:i + n - 1); a(i, i) = 20
  end do
  call matmul3(a, a, c, n)
  call lu(a, n)
  d = c
  call heat(c, d, n, 4, err)
  call sor(c, n)
  call redblack(c, n)
  call spmv(4, [1, 3, 5, 8, 10], [1, 2, 2, 3, 1, 3, 4, 2, 4], x, x(20:), y)
  nodes = reshape([1, 2, 2, 3, 3, 4, 4, 5, 1, 2], [2, 5]); stiff = 0; load = 0
  call count_vector(5, nodes(1, :), load)
  call count_matrix(5, nodes, stiff)
  call count_shape(5, nodes, stiff)
  call add_matrix(5, nodes, ke, stiff)
  call add_vector(5, nodes, ke(1, :), load)
  call add_shape(5, nodes, ke, stiff)
  call thomas(x(1:8), x(9:16), x(17:24), x(25:32), o(1:8), 8)
  re = x(1:16); im = 0
  call fft_stage(re, im, 16, 4)
  call stats(x, 40, mean, var, lo, hi, cnt)
  h = 0
  call histogram(abs(x), 40, h, 5)
  call rk4(y, 4, 0.1d0, 3)
  u = x(1:n + 2)
  call upwind(u, f, n)
  ia = [(mod(i*7, 20), i=1, 20)]
  call search(ia, 20, 3, at)
  call lastsearch(ia, 20, 3, at2)
  call prefix(ia, 20)
  call pack_pos(x, 40, o, m)
  call writes(x, 5)
  s = 'hello wide world'
  call upper(s)
  call fibs(fi, 10)
  call wavefront(d, n)
  call transpose_ip(d, n)
  call conc(o, x, 40)
  print *, err, mean, var, lo, hi, cnt, sum(h), m, s, count_char(s, 'L'), fi(10), d(3, 4), o(3), re(3), u(3), b(3)%p%x, a(2, 2), y(1), at, at2, ia(20), stiff(2, 3), load(2)
end program
