! Arrays of which each iteration sets a part. Labels as in arrays.c.
program copied
  implicit none
  integer :: h(20), i, x(12), t(4), own(3)
  h = 100
  t = 5
  do i = 1, 12 ! @parallel
    x(i) = mod(i * 7, 5)
  end do
  do i = 1, 12 ! @serial
    h(mod(i, 3) + 1) = h(mod(i, 3) + 1) + x(i)
    h(i + 4) = x(i)
  end do
  do i = 1, 12 ! @serial
    t(2) = i
  end do
  do i = 1, 12 ! @clauses
    own(1) = x(i)
    own(1) = own(1) + 2
    x(i) = own(1)
  end do
  print *, h, t, x
end program
