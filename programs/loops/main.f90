! Loops of a main program whose counter is passed to a function, and so has a place in memory. Labels as in arrays.c.
module m
  implicit none
  integer, parameter :: n = 64
  real(8) :: a(n), b(n), c(n), x(n,n), y(n,n), tri(n), wrk(n), q(n,n)
  integer :: p(n), h(8)
contains
  pure real(8) function sq(v)
    real(8), intent(in) :: v
    sq = v*v + 1d0
  end function
  recursive integer function ack(i) result(r)
    integer, intent(in) :: i
    if (i < 2) then
      r = 1
    else
      r = ack(i-1) + ack(i-2)
    end if
  end function
end module
program t
  use m
  implicit none
  integer :: i, j, k, cnt
  real(8) :: s, mx, pr, tmp, d
  do i = 1, n ! @parallel
    a(i) = i * 0.5d0
    b(i) = n - i
    p(i) = mod(i*7, n) + 1
  end do
  do i = 1, n ! @parallel
    c(i) = sq(a(i)) + b(i)
  end do
  do j = 1, n ! @parallel
    do i = 1, n ! @parallel
      x(i,j) = a(i) * b(j)
    end do
  end do
  do j = 1, n ! @clauses
    do i = 1, n ! @clauses
      s = 0
      do k = 1, n ! @clauses
        s = s + x(i,k) * x(k,j)
      end do
      y(i,j) = s
    end do
  end do
  mx = -1d9
  do i = 1, n ! @clauses
    mx = max(mx, c(i))
  end do
  pr = 1
  do i = 1, n ! @clauses
    pr = pr * (1d0 + a(i) * 1d-6)
  end do
  do i = 2, n ! @serial
    tri(i) = (b(i) - 0.5d0 * tri(i-1)) / 2d0
  end do
  do i = n-1, 1, -1 ! @serial
    tri(i) = tri(i) - 0.25d0 * tri(i+1)
  end do
  do i = 1, n ! @parallel
    a(p(i)) = c(i)
  end do
  do i = 1, n ! @serial
    h(mod(i*i, 8) + 1) = i
  end do
  cnt = 0
  do i = 1, n ! @clauses
    if (c(i) > 100d0) cnt = cnt + 1
  end do
  do j = 1, n ! @clauses
    do i = 1, n
      wrk(i) = x(i,j) * 2d0
    end do
    tmp = 0
    do i = 1, n
      tmp = tmp + wrk(n+1-i)
    end do
    c(j) = tmp
  end do
  do k = 1, n-1 ! @serial
    do i = k+1, n ! @parallel
      y(i,k) = y(i,k) / (y(k,k) + 1d3)
      do j = k+1, n ! @parallel
        y(i,j) = y(i,j) - y(i,k) * y(k,j)
      end do
    end do
  end do
  do i = 1, 16
    h(mod(i,8)+1) = h(mod(i,8)+1)
    q(i,1) = ack(i)
  end do
  do i = 1, n
    q(:,i) = x(i,:) + 1d0
  end do
  do i = 1, 5 ! @serial
    print *, i, q(i,i)
  end do
  d = 0
  do i = 1, n ! @serial
    d = d * 0.9d0 + b(i)
  end do
  where (a > 10d0) a = 0d0
  print *, s, mx, pr, cnt, sum(c), d, h(2), tri(3), sum(a), y(3,4)
end program
