! Sections of arrays, derived types, pointers, common blocks, internal procedures, intrinsic functions. Labels as in arrays.c.
module shapes
  implicit none
  integer, parameter :: n = 40, dp = kind(1d0)
  type point
    real(dp) :: x, y
    integer :: tag
  end type
  type, extends(point) :: solid
    real(dp) :: z
    real(dp), allocatable :: extra(:)
  end type
  type list
    integer :: value
    type(list), pointer :: next => null()
  end type
  type, abstract :: figure
  contains
    procedure(area_of), deferred :: area
  end type
  type, extends(figure) :: square
    real(dp) :: side
  contains
    procedure :: area => square_area
  end type
  abstract interface
    function area_of(self, i)
      import :: figure, dp
      class(figure), intent(in) :: self
      integer, intent(in) :: i
      real(dp) :: area_of
    end function
  end interface
  real(dp) :: total, table(n), shared(8)
  integer :: counter = 0
  real(dp), allocatable :: heap(:), grid(:, :)
  real(dp), pointer :: window(:)
contains
  function square_area(self, i)
    class(square), intent(in) :: self
    integer, intent(in) :: i
    real(dp) :: square_area
    square_area = self%side**2 + i
  end function
  subroutine note(x)
    real(dp), intent(in) :: x
    total = total + x
  end subroutine
  integer function ticket()
    counter = counter + 1
    ticket = counter
  end function
  integer function saved(i)
    integer, intent(in) :: i
    integer, save :: last = 0
    saved = last + i
    last = i
  end function
  pure elemental real(dp) function cube(x)
    real(dp), intent(in) :: x
    cube = x**3
  end function
  subroutine fill(a, v)
    real(dp), intent(out) :: a(:)
    real(dp), intent(in) :: v
    a = v
  end subroutine
  subroutine smooth(a)
    real(dp), intent(inout) :: a(:)
    integer :: i
    do i = 2, size(a) - 1 ! @serial
      a(i) = (a(i-1) + a(i) + a(i+1)) / 3
    end do
  end subroutine
  subroutine assumed(a, b, m)
    integer, intent(in) :: m
    real(dp), intent(inout) :: a(m), b(m, *)
    integer :: i, j
    do j = 1, 3 ! @parallel
      do i = 1, m ! @parallel
        b(i, j) = a(i) * j
      end do
    end do
    do i = 1, m ! @parallel
      a(i) = b(i, 1) + b(i, 3)
    end do
  end subroutine
end module

program main
  use shapes
  implicit none
  real(dp) :: a(n), b(n), c(n, n), d(n, n), work(n), s, big, small, t
  complex(dp) :: z(n), zs
  logical :: flag(n), any_big, all_small
  integer :: i, j, k, m, idx(n), hits, where_max, bits
  character(len=12) :: words(n)
  character(len=:), allocatable :: text
  type(point) :: pts(n)
  type(solid) :: sol(n)
  type(list), pointer :: head, node
  type(square) :: sq(n)
  class(figure), allocatable :: fig
  real(dp), target :: tgt(n)
  real(dp) :: blk(n)
  integer :: bi
  common /block/ blk, bi

  allocate(heap(n), grid(n, n))
  do i = 1, n ! @parallel
    heap(i) = i
    a(i) = i * 0.5_dp
    b(i) = mod(i * 7, n)
    idx(i) = mod(i * 3, n) + 1
  end do
  do j = 1, n ! @parallel
    grid(:, j) = heap(:) + j
  end do
  do j = 2, n ! @serial
    grid(:, j) = grid(:, j) + grid(:, j - 1)
  end do
  do i = 1, n ! @parallel
    c(i, :) = a(i) * b(:)
  end do
  do j = 1, n ! @parallel
    d(:, j) = matmul(c, b) * j
  end do
  do j = 1, n ! @parallel
    work(j) = sum(c(:, j)) + dot_product(a, c(:, j)) + maxval(d(:, j))
  end do
  do j = 2, n ! @serial
    a(1:j) = a(n-j+1:n) + 1
  end do
  do i = 1, n - 1 ! @serial
    a(i:i+1) = b(i:i+1)
  end do
  do i = 1, n ! @parallel
    where (c(:, i) > 10) c(:, i) = 10
  end do
  do concurrent (i = 1:n) ! @parallel
    a(i) = b(i) + 1
  end do
  do concurrent (i = 1:n, j = 1:n, i /= j) ! @parallel
    d(i, j) = c(i, j) * 2
  end do
  forall (i = 1:n) d(i, i) = 0 ! @parallel
  s = 0; big = -1; small = 1d9
  do i = 1, n ! @clauses
    s = s + a(i)
    big = max(big, b(i))
    small = min(small, a(i) + b(i))
  end do
  any_big = .false.; all_small = .true.
  do i = 1, n ! @clauses
    any_big = any_big .or. a(i) > 30
    all_small = all_small .and. b(i) < 100
  end do
  do i = 1, n ! @serial
    if (i == 1) hits = 0
    if (a(i) > 5) hits = hits + 1
  end do
  bits = 0
  do i = 1, n ! @clauses
    bits = ieor(bits, i * 13)
  end do
  where_max = 1
  do i = 1, n ! @serial
    if (b(i) > b(where_max)) where_max = i
  end do
  do i = 1, n ! @clauses
    t = a(i) * 2
    if (t > 10) t = 10
    b(i) = t
  end do
  do i = 1, n ! @clauses
    t = b(i)
    a(i) = t + 1
  end do
  do i = 1, n ! @clauses
    do j = 1, n ! @parallel
      work(j) = c(j, i)
    end do
    b(i) = work(3) + work(n)
  end do
  work = 0
  do i = 1, n ! @clauses
    work(:) = c(:, i)
    a(i) = work(2) - work(5)
  end do
  work = 0
  do i = 1, n ! @parallel
    pts(i)%x = i
    pts(i)%y = -i
    pts(i)%tag = i
  end do
  do i = 1, n ! @parallel
    sol(i)%point = pts(i)
    sol(i)%z = 1
    allocate(sol(i)%extra(3))
    sol(i)%extra = [1d0, 2d0, 3d0] * i
  end do
  do i = 2, n ! @serial
    pts(i)%x = pts(i-1)%x + pts(i)%y
  end do
  do i = 2, n ! @parallel
    pts(i)%x = pts(i-1)%y
  end do
  do i = 1, n ! @clauses
    s = s + sol(i)%extra(2)
  end do
  nullify(head)
  do i = 1, n ! @serial
    allocate(node)
    node%value = i
    node%next => head
    head => node
  end do
  node => head
  k = 0
  do while (associated(node)) ! @serial
    k = k + node%value
    node => node%next
  end do
  do i = 1, n ! @parallel
    sq(i)%side = i
  end do
  do i = 1, n ! @parallel
    a(i) = sq(i)%area(i)
  end do
  allocate(fig, source=sq(3))
  do i = 1, n ! @parallel
    a(i) = fig%area(i)
  end do
  total = 0
  do i = 1, n ! @clauses
    call note(a(i))
  end do
  do i = 1, n ! @serial
    idx(i) = ticket()
  end do
  do i = 1, n ! @serial
    idx(i) = saved(i)
  end do
  do i = 1, n ! @parallel
    b(i) = cube(a(i))
  end do
  do j = 1, n ! @parallel
    call fill(c(:, j), real(j, dp))
  end do
  do j = 1, n ! @parallel
    call fill(c(j, :), real(j, dp))
  end do
  do j = 1, n ! @parallel
    call smooth(d(:, j))
  end do
  call assumed(a, d, n)
  window => tgt(3:20)
  do i = 1, n ! @parallel
    tgt(i) = i
  end do
  do i = 1, 18 ! @serial
    window(i) = tgt(i) + 1
  end do
  do i = 1, 18 ! @parallel
    window(i) = window(i) * 2
  end do
  do i = 1, n ! @parallel
    blk(i) = i
  end do
  bi = 0
  do i = 1, n ! @clauses
    call common_add(i)
  end do
  do i = 1, n ! @parallel
    z(i) = cmplx(i, -i, dp)
  end do
  zs = 0
  do i = 1, n ! @clauses
    zs = zs + z(i) * conjg(z(i))
  end do
  do i = 1, n ! @parallel
    flag(i) = mod(i, 3) == 0
  end do
  do i = 1, n ! @parallel
    if (.not. flag(i)) cycle
    a(i) = -a(i)
  end do
  do i = 1, n ! @serial
    if (flag(i) .and. i > 10) exit
    a(i) = 0
  end do
  outer: do i = 1, n ! @parallel
    do j = 1, n ! @serial
      if (c(j, i) > 20) cycle outer
      d(j, i) = 1
    end do
  end do outer
  do i = 1, n ! @parallel
    words(i) = 'abc' // achar(64 + mod(i, 20))
  end do
  do i = 1, n ! @clauses
    k = k + len_trim(words(i))
  end do
  do i = 1, n ! @clauses
    k = k + index(words(i), 'c')
  end do
  text = ''
  do i = 1, 5 ! @serial
    text = text // trim(words(i))
  end do
  do i = 1, 3 ! @serial
    write(words(1), '(i3)') i
    print *, i
  end do
  do i = 1, n ! @serial
    call random_number(a(i))
  end do
  m = 3
  do i = 1, n, m ! @parallel
    b(i) = i
  end do
  do i = n, 1, -1 ! @parallel
    b(i) = i
  end do
  j = 0
  do i = 1, n, 2 ! @clauses
    j = j + 1
    b(j) = i
  end do
  call internal(5)
  print *, s, big, small, any_big, all_small, hits, bits, where_max, t, k, total, real(zs), text, bi, sum(b), work(3)
contains
  subroutine internal(shift)
    integer, intent(in) :: shift
    integer :: i2
    real(dp) :: own(n)
    do i2 = 1, n ! @parallel
      own(i2) = a(i2) + shift
    end do
    do i2 = 1, n - shift ! @serial
      own(i2 + shift) = own(i2) + 1
    end do
    do i2 = 1, n ! @clauses
      s = s + own(i2)
    end do
    do i2 = 1, n ! @parallel
      associate (q => b(i2))
        q = own(i2)
      end associate
    end do
    block
      real(dp) :: inner(n)
      do i2 = 1, n ! @parallel
        inner(i2) = b(i2)
      end do
      s = s + inner(4)
    end block
  end subroutine
end program
subroutine common_add(i)
  implicit none
  integer, parameter :: n = 40
  integer :: i, bi
  real(kind(1d0)) :: blk(n)
  common /block/ blk, bi
  bi = bi + i
end subroutine
