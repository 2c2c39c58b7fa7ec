! A kernel of one's own in Fortran: y = alpha A x + beta y and C = alpha A B + beta C in f64, A in CSR. CMakeLists.txt judges it with CTest.
!
! The structs are those of sparse_conformance.h, field by field. Unsigned numbers are read as signed ones of the same size.
module sparse_conformance
  use, intrinsic :: iso_c_binding
  implicit none

  type, bind(C) :: sc_array
    type(c_ptr) :: name, data
    integer(c_int64_t) :: count
    integer(c_int32_t) :: dtype, reserved
  end type
  type, bind(C) :: sc_sparse
    integer(c_int32_t) :: struct_size, dtype
    type(c_ptr) :: format
    integer(c_int64_t) :: rows, cols
    type(c_ptr) :: arrays, extents
    integer(c_int32_t) :: array_count, extent_count
  end type
  type, bind(C) :: sc_dense
    integer(c_int32_t) :: struct_size, dtype
    integer(c_int64_t) :: rows, cols, ld, count
    integer(c_int32_t) :: layout, reserved
    type(c_ptr) :: data
  end type
  type, bind(C) :: sc_task
    integer(c_int32_t) :: struct_size, op
    type(c_ptr) :: contract, a, b_sparse, b, y
    real(c_double) :: alpha, beta
    integer(c_int32_t) :: transpose_a, transpose_b, mode, param_count
    type(c_ptr) :: to, params
  end type
  type, bind(C) :: sc_result
    integer(c_int32_t) :: struct_size, dtype
    type(c_ptr) :: c, host
    type(c_funptr) :: new_array, set_extent, refuse
  end type

  ! "faults": [] asks for legal requests only, since sc_illegal of the header is C. "muladd": one chain in ascending columns.
  character(kind=c_char, len=*), parameter :: text = &
    '{ "protocol": 1, "name": "my-fortran-kernel", "version": "1", "supports": [ {' // &
    ' "contracts": ["spmm.csr.f64_*", "spmv.csr.f64_*"], "arithmetic": "muladd",' // &
    ' "only": { "transpose_a": false, "transpose_b": false, "faults": [] } } ] }' // c_null_char
  character(kind=c_char, len=len(text)), target, save :: manifest = text

contains

  integer(c_int32_t) function sc_abi_version() bind(C)
    sc_abi_version = 1
  end function

  type(c_ptr) function sc_manifest() bind(C)
    sc_manifest = c_loc(manifest)
  end function

  integer(c_int32_t) function sc_run(task, result) bind(C)
    type(sc_task), intent(in) :: task
    type(sc_result), intent(in) :: result
    type(sc_sparse), pointer :: a
    type(sc_dense), pointer :: b, c
    type(c_ptr) :: at
    integer(c_int32_t), pointer :: row_ptr(:), col_idx(:)
    real(c_double), pointer :: values(:), from(:), to(:)
    real(c_double) :: total
    integer(c_int64_t) :: i, j, e, here
    call c_f_pointer(task%a, a)
    call c_f_pointer(task%b, b)
    call c_f_pointer(result%c, c)
    call c_f_pointer(b%data, from, [b%count])
    call c_f_pointer(c%data, to, [c%count])
    call find(a, "row_ptr", at)
    call c_f_pointer(at, row_ptr, [a%rows + 1])
    call find(a, "col_idx", at)
    call c_f_pointer(at, col_idx, [row_ptr(a%rows + 1)])
    call find(a, "values", at)
    call c_f_pointer(at, values, [row_ptr(a%rows + 1)])
    do i = 0, c%rows - 1
      do j = 0, c%cols - 1
        total = 0
        if (task%alpha /= 0) then
          do e = row_ptr(i + 1) + 1, row_ptr(i + 2)
            total = total + values(e) * from(place(b, int(col_idx(e), c_int64_t), j))
          end do
        end if
        here = place(c, i, j)
        if (task%beta == 0) then
          to(here) = task%alpha * total
        else
          to(here) = task%alpha * total + task%beta * to(here)
        end if
      end do
    end do
    sc_run = 0
  end function

  ! Where element (i, j), counted from 0, is in an array that Fortran counts from 1.
  pure integer(c_int64_t) function place(d, i, j)
    type(sc_dense), intent(in) :: d
    integer(c_int64_t), intent(in) :: i, j
    place = 1 + merge(i * d%ld + j, j * d%ld + i, d%layout == 0)
  end function

  ! The array of this name.
  subroutine find(a, wanted, at)
    type(sc_sparse), intent(in) :: a
    character(len=*), intent(in) :: wanted
    type(c_ptr), intent(out) :: at
    type(sc_array), pointer :: arrays(:)
    character(kind=c_char), pointer :: name(:)
    integer :: i
    call c_f_pointer(a%arrays, arrays, [a%array_count])
    at = c_null_ptr
    do i = 1, a%array_count
      call c_f_pointer(arrays(i)%name, name, [len(wanted) + 1])
      if (all(name == transfer(wanted // c_null_char, name))) at = arrays(i)%data
    end do
  end subroutine
end module
