! SPDX-FileCopyrightText: The kernelsearch authors
! SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
subroutine matmul_fortran(n, m, k, a, b, c) bind(C, name="matmul_fortran")
  use, intrinsic :: iso_c_binding, only: c_float, c_int
  implicit none
  integer(c_int), value :: n, m, k
  real(c_float), intent(in) :: a(n, k), b(k, m)
  real(c_float), intent(out) :: c(n, m)
  integer :: first_row, first_depth, first_column, last_row, last_depth, i, j, p

  c = 0
  do first_depth = 1, k, DEPTH
    last_depth = min(first_depth + DEPTH - 1, k)
    do first_row = 1, n, ROWS
      last_row = min(first_row + ROWS - 1, n)
      do first_column = 1, m - COLUMNS + 1, COLUMNS
        do p = first_depth, last_depth
          do j = first_column, first_column + COLUMNS - 1
            do i = first_row, last_row
              c(i, j) = c(i, j) + a(i, p) * b(p, j)
            end do
          end do
        end do
      end do
      do j = m - mod(m, COLUMNS) + 1, m
        do p = first_depth, last_depth
          do i = first_row, last_row
            c(i, j) = c(i, j) + a(i, p) * b(p, j)
          end do
        end do
      end do
    end do
  end do
end subroutine matmul_fortran
