! Pointers, types with procedures, allocation in loops, characters, shifts. Labels as in arrays.c.
module shapes
  implicit none
  type :: stack
    integer :: top = 0
    integer :: items(100)
  contains
    procedure :: push
    procedure :: pop
  end type
  type, abstract :: shape
  contains
    procedure(area_of), deferred :: area
  end type
  abstract interface
    real(8) function area_of(self)
      import shape
      class(shape), intent(in) :: self
    end function
  end interface
  type, extends(shape) :: square
    real(8) :: a
  contains
    procedure :: area => square_area
  end type
  type, extends(shape) :: circle
    real(8) :: r
  contains
    procedure :: area => circle_area
  end type
  type :: holder
    class(shape), allocatable :: s
  end type
  type :: link
    integer :: v
    type(link), pointer :: next => null()
  end type
contains
  subroutine push(self, x)
    class(stack), intent(inout) :: self
    integer, intent(in) :: x
    self%top = self%top + 1
    self%items(self%top) = x
  end subroutine
  integer function pop(self)
    class(stack), intent(inout) :: self
    pop = self%items(self%top)
    self%top = self%top - 1
  end function
  real(8) function square_area(self)
    class(square), intent(in) :: self
    square_area = self%a ** 2
  end function
  real(8) function circle_area(self)
    class(circle), intent(in) :: self
    circle_area = 3.14d0 * self%r ** 2
  end function
  subroutine smooth(u, v)
    real(8), intent(in) :: u(:)
    real(8), intent(out) :: v(:)
    integer :: i
    v = u
    do i = 2, size(u) - 1                     ! @parallel
      v(i) = (u(i - 1) + u(i) + u(i + 1)) / 3
    end do
  end subroutine
end module
program main
  use shapes
  implicit none
  integer, parameter :: n = 30
  real(8), allocatable :: u(:), v(:), grid(:, :), tmp(:)
  real(8), pointer :: p(:), q(:)
  real(8), target :: store(n)
  type(stack) :: st
  type(holder) :: hs(6)
  type(link), pointer :: head, at
  integer :: i, j, total, it
  real(8) :: s, seed
  character(len=n) :: text
  integer :: counts(26)
  common /shared/ seed
  allocate(u(n), v(n), grid(n, n))
  do i = 1, n                                 ! @parallel
    u(i) = i; store(i) = -i
  end do
  do it = 1, 4                                ! @serial
    call smooth(u, v)
    u = v
  end do
  p => store(1:n - 1)
  q => store(2:n)
  do i = 1, n - 1                             ! @serial
    q(i) = p(i) + 1
  end do
  do i = 1, n                                 ! @serial
    call st%push(i)
  end do
  total = 0
  do while (st%top > 0)                       ! @serial
    total = total + st%pop()
  end do
  do i = 1, 6
    if (mod(i, 2) == 0) then
      allocate(hs(i)%s, source = square(real(i, 8)))
    else
      allocate(hs(i)%s, source = circle(real(i, 8)))
    end if
  end do
  s = 0
  do i = 1, 6                                 ! @clauses
    s = s + hs(i)%s%area()
  end do
  nullify(head)
  do i = 1, n                                 ! @serial
    allocate(at)
    at%v = i
    at%next => head
    head => at
  end do
  at => head
  do while (associated(at))                   ! @serial
    total = total + at%v
    at => at%next
  end do
  do j = 1, n                                 ! @parallel
    do i = 1, n                               ! @parallel
      grid(i, j) = i * j
    end do
  end do
  do j = 1, n                                 ! @clauses
    allocate(tmp(5))
    tmp = j
    grid(1, j) = tmp(3)
    deallocate(tmp)
  end do
  do i = 1, n                                 ! @parallel
    text(i:i) = achar(97 + mod(i * 5, 26))
  end do
  counts = 0
  do i = 1, n                                 ! @clauses
    j = iachar(text(i:i)) - 96
    counts(j) = counts(j) + 1
  end do
  seed = 1
  do i = 1, n                                 ! @serial
    seed = mod(seed * 16807d0, 2147483647d0)
    u(i) = seed
  end do
  do i = 1, n                                 ! @parallel
    grid(:, i) = cshift(grid(:, i), 1)
  end do
  do i = 1, n                                 ! @clauses
    s = s + maxval(grid(:, i)) + count(grid(:, i) > 5)
  end do
  do i = 1, n / 2                             ! @parallel
    seed = u(i); u(i) = u(n + 1 - i); u(n + 1 - i) = seed
  end do
  print *, s, total, counts(3), u(2), text, store(4)
end program
