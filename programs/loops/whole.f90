! Loops over whole arrays and sections, which the compiler writes out as loops of its own, and operators of logical variables.
module particles
  implicit none
  integer, parameter :: n = 48
  type :: particle
    real(8) :: place(3), speed(3), force(3)
    real(8) :: mass
  contains
    procedure :: push
    procedure :: energy
  end type
contains
  subroutine push(self, step)
    class(particle), intent(inout) :: self
    real(8), intent(in) :: step
    self%speed = self%speed + step * self%force / self%mass
    self%place = self%place + step * self%speed
  end subroutine
  pure real(8) function energy(self)
    class(particle), intent(in) :: self
    energy = 0.5d0 * self%mass * sum(self%speed**2)
  end function
  subroutine smooth(from, to)
    real(8), intent(in) :: from(:)
    real(8), intent(out) :: to(:)
    integer :: i
    to(1) = from(1)
    to(size(to)) = from(size(from))
    do i = 2, size(from) - 1 ! @parallel
      to(i) = (from(i - 1) + from(i) + from(i + 1)) / 3
    end do
  end subroutine
end module
program whole
  use particles
  implicit none
  type(particle) :: all(n)
  real(8) :: a(n, n), c(n, n), row(n), momentum(3), away(3), scale, total
  real(8), allocatable :: column(:), grown(:)
  logical :: bits(n), same, odd
  integer :: i, j
  do i = 1, n ! @parallel
    do j = 1, n ! @parallel
      a(i, j) = mod(i * 7 + j * 13, 31) * 0.1d0
    end do
    all(i)%place = [a(i, 1), a(i, 2), a(i, 3)]
    all(i)%speed = 0
    all(i)%mass = 1 + a(i, 4)
    bits(i) = mod(i, 3) == 0
  end do
  c = 0
  do i = 1, n ! @clauses
    all(i)%force = 0
    do j = 1, n
      if (i == j) cycle
      away = all(j)%place - all(i)%place
      scale = 1 / (sum(away * away) + 0.01d0)**1.5d0
      all(i)%force = all(i)%force + all(j)%mass * scale * away
    end do
  end do
  do i = 1, n ! @parallel
    call all(i)%push(0.01d0)
  end do
  total = 0
  do i = 1, n ! @clauses
    total = total + all(i)%energy()
  end do
  momentum = 0
  do i = 1, n ! @clauses
    momentum = momentum + all(i)%mass * all(i)%speed
  end do
  row = 0
  do i = 1, n ! @clauses
    row = row + a(:, i)
  end do
  do i = 1, n ! @clauses
    c(:, 1) = c(:, 1) + a(i, 1) * a(:, i)
  end do
  do i = 1, n ! @clauses
    row(1:i) = row(1:i) - a(i, 2)
  end do
  do i = 2, n ! @serial
    row(1:i) = row(i:1:-1) + a(i, 2)
  end do
  do i = 2, n ! @serial
    c(:, i) = c(:, i - 1) + a(:, i)
  end do
  do i = 1, n ! @serial
    row = 0.5d0 * row + a(:, i)
  end do
  do i = 1, n ! @clauses
    allocate(column(n))
    column = a(:, i) * 2
    c(:, i) = column + c(:, i)
    deallocate(column)
  end do
  do i = 1, n ! @clauses
    column = a(:, i) * 2
    c(:, i) = column - c(:, i)
  end do
  grown = [0d0]
  do i = 1, n ! @serial
    grown = [grown, a(i, i)]
  end do
  do j = 1, n ! @clauses
    call smooth(a(j, :), row)
    c(j, :) = row
  end do
  do j = 1, n ! @parallel
    call smooth(a(:, j), c(:, j))
  end do
  do i = 1, n ! @parallel
    c(:, i) = matmul(a, a(:, i))
  end do
  do i = 1, n ! @parallel
    where (a(:, i) > 1) c(:, i) = merge(a(:, i), c(:, i), bits)
  end do
  same = .true.
  do i = 1, n ! @clauses
    same = same .eqv. bits(i)
  end do
  odd = .false.
  do i = 1, n ! @clauses
    odd = odd .neqv. bits(i)
  end do
  odd = .false.
  do i = 1, n ! @serial
    odd = odd .neqv. bits(i)
    if (odd) c(i, i) = 0
  end do
  print *, total, momentum, sum(row), sum(c), same, odd, size(grown)
end program
