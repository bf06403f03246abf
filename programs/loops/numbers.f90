program p
  implicit none
  integer, parameter :: n = 50
  real(8) :: a(n), b(n), s, t, tmp(5), q(n,n)
  integer :: i, j, k
  do i = 1, n ! @parallel
    a(i) = i
  end do
  do i = 2, n ! @serial
    a(i) = a(i-1) + 1
  end do
  s = 0
  do i = 1, n ! @clauses
    s = s + a(i)
  end do
  do i = 1, n ! @clauses
    t = a(i)
    b(i) = t * t
  end do
  do i = 1, n ! @clauses
    do j = 1, 5
      tmp(j) = a(i) * j
    end do
    b(i) = tmp(3)
  end do
  do j = 1, n ! @clauses
    do i = 1, n ! @parallel
      q(i,j) = i + j
    end do
  end do
  do i = 1, n ! @serial
    print *, a(i)
  end do
  do i = 1, n ! @clauses
    if (a(i) > s) s = a(i)
  end do
  do i = 1, n ! @clauses
    s = max(s, a(i))
  end do
  do i = 1, n ! @parallel
    call sub(b(i), a(i))
  end do
  do i = 1, n ! @serial
    if (a(i) < 0) exit
    b(i) = 1
  end do
  k = 0
  do i = 1, n ! @serial
    if (a(i) > 3) then
      k = k + 1
      b(k) = a(i)
    end if
  end do
  print *, s, sum(b), sum(q), k
contains
  subroutine sub(x, y)
    real(8) :: x, y
    x = y * 2
  end subroutine
end program
