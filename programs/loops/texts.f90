! Texts that are read and written by items, and what only the library reads. Labels as in arrays.c.
program texts
  implicit none
  integer :: a(100), w(4), i, n, k, s, m(100)
  character(len=8) :: b, keep
  real(8) :: x, tot
  n = 100
  do i = 1, n                                   ! @parallel
    a(i) = mod(i * 37, 101)
  end do
  w = 0
  do i = 1, n                                   ! @serial
    if (a(i) > 3) w(2) = a(i)
  end do
  do i = 1, n                                   ! @serial
    if (a(i) == 99) w(3) = i
  end do
  do i = 1, n                                   ! @clauses
    write (b, '(i8)') a(i)
    read (b, *) k
    m(i) = k * 2
  end do
  k = 0
  do i = 1, n                                   ! @serial
    write (b, '(i8)') k
    read (b, *) s
    k = s + a(i) * mod(s, 3) + 1
  end do
  keep = ' '
  do i = 1, n                                   ! @serial
    if (mod(a(i), 7) == 3) write (keep, '(i8)') a(i)
  end do
  tot = 0
  do i = 1, n                                   ! @clauses
    write (b, '(f8.3)') a(i) * 0.5
    read (b, '(f8.3)') x
    tot = tot + x
  end do
  print *, w, k, keep, tot, m
end program
