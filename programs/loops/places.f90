! Places of one array that each have an operator of their own, and those that only seem to. Labels as in arrays.c.
program places
  implicit none
  integer, parameter :: n = 150
  real(8) :: d(n), r(3), q(2)
  integer :: i, counts(2)
  do i = 1, n ! @parallel
    d(i) = mod(i * 7919, 211)
  end do
  r = [0d0, 0d0, 1d9]
  do i = 1, n ! @clauses
    r(1) = r(1) + d(i)
    r(2) = max(r(2), d(i))
    if (d(i) < r(3)) r(3) = d(i)
  end do
  q = [0d0, 1d0]
  do i = 1, n ! @serial
    q(1) = q(1) + d(i)
    q(2) = max(q(2), q(1))
  end do
  counts = [0, 1]
  do i = 1, n ! @clauses
    counts(1) = counts(1) + 1
    counts(2) = ior(counts(2), i)
  end do
  print *, r, q, counts
end program
