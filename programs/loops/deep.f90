! Objects of derived types, with and without components that lie elsewhere.
module t
  type :: node
    real(8), allocatable :: v(:)
    integer :: k = 0
  end type
  type :: flat
    real(8) :: x = 0
    real(8) :: w(3) = 0
  end type
  type :: both
    type(flat) :: f
    integer, pointer :: p => null()
  end type
contains
  subroutine s(a, b, f, g, c, d, n)
    integer, intent(in) :: n
    type(node), intent(inout) :: a(n), b(n)
    type(flat), intent(inout) :: f(n), g(n)
    type(both), intent(inout) :: c(n), d(n)
    integer :: i
    do i = 1, n
      a(i) = b(i)
    end do
    do i = 1, n ! @parallel
      f(i) = g(i)
    end do
    do i = 2, n ! @serial
      f(i) = f(i - 1)
    end do
    do i = 1, n ! @parallel
      c(i) = d(i)
    end do
    do i = 2, n ! @serial
      c(i) = c(i - 1)
    end do
    do i = 2, n ! @serial
      a(i) = a(i - 1)
    end do
    do i = 1, n ! @serial
      a(1) = b(i)
      k = k + size(a(1)%v)
      b(mod(i, n) + 1)%v = k
    end do
  end subroutine
end module
program p
  use t
  type(node) :: a(8), b(8)
  type(flat) :: f(8), g(8)
  type(both) :: c(8), d(8)
  integer, target :: z = 3
  do i = 1, 8
    b(i)%v = [1d0*i, 2d0]
    g(i)%x = i
    d(i)%p => z
  end do
  call s(a, b, f, g, c, d, 8)
  print *, a(3)%v, f(4)%x, c(2)%p
end program
