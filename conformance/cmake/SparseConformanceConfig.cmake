# The CMake package: finds the header and the command `conformance`, and makes a test of CTest out of a kernel. Linux, CMake 3.18 or later.
#
#     find_package(SparseConformance REQUIRED)
#     enable_testing()
#     add_library(my_kernel MODULE my_kernel.c)                        # C, C++, CUDA, or Fortran with bind(C)
#     sparse_conformance_test(my_kernel TIER quick ONLY "spmm.csr.*")
#
# SparseConformance_COMMAND             the command: set it (-D, or SPARSE_CONFORMANCE in the environment) where it is not found. A value in
#                                       the environment that is new to the build folder replaces what was found there before
# SparseConformance::sparse_conformance the header's folder; a plug-in needs no macro, and no setting for visibility
# SparseConformance::conformance        the command as a target, for tests of your own:
#                                       add_test(NAME mine COMMAND SparseConformance::conformance run --exec "python mine.py")

# The functions keep these policies, whatever the project that calls them asks for.
cmake_policy(PUSH)
cmake_policy(VERSION 3.18...3.30)

# Sets SparseConformance_COMMAND, and `problem` to the reason why there is none, with what to do about it; else to nothing.
function(_sparse_conformance_find problem)
  # A variable that is always set must not win over -D, and a relative path means the folder of the shell that the user was in. Both
  # are right if the environment is read only when it has changed since the last configure.
  set(given "$ENV{SPARSE_CONFORMANCE}")
  if(given AND (NOT SparseConformance_COMMAND OR
                (DEFINED CACHE{_sparse_conformance_given} AND NOT given STREQUAL "$CACHE{_sparse_conformance_given}")))
    get_filename_component(path "${given}" ABSOLUTE BASE_DIR "$ENV{PWD}")
    set(SparseConformance_COMMAND "${path}" CACHE FILEPATH "The command `conformance`" FORCE)
  endif()
  set(_sparse_conformance_given "${given}" CACHE INTERNAL "SPARSE_CONFORMANCE of the last configure")
  # In a checkout the command is where cargo puts it, in an installed prefix in its bin/. That one wins over any other.
  set(here "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  find_program(SparseConformance_COMMAND NAMES conformance DOC "The command `conformance`"
    PATHS "${here}/../../target/release" "${here}/../../../bin" NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  find_program(SparseConformance_COMMAND NAMES conformance PATHS "$ENV{HOME}/.cargo/bin" NO_CMAKE_FIND_ROOT_PATH)
  set(said "")
  if(SparseConformance_COMMAND)
    execute_process(COMMAND "${SparseConformance_COMMAND}" --version OUTPUT_VARIABLE said ERROR_QUIET RESULT_VARIABLE failed)
  endif()
  include("${here}/SparseConformanceConfigVersion.cmake")
  string(REGEX MATCH "^[0-9]+\\.[0-9]+" wanted "${PACKAGE_VERSION}")
  if(said MATCHES "^conformance (([0-9]+\\.[0-9]+)[^\n]*)")
    set(SparseConformance_COMMAND_VERSION "${CMAKE_MATCH_1}" PARENT_SCOPE)
    set(${problem} "" PARENT_SCOPE)
    if(NOT CMAKE_MATCH_2 VERSION_EQUAL wanted)
      set(${problem} "SparseConformance_COMMAND is ${SparseConformance_COMMAND}, of version ${CMAKE_MATCH_1}, and this package is of version \
${PACKAGE_VERSION}. It needs a command of version ${wanted}: -DSparseConformance_COMMAND=PATH" PARENT_SCOPE)
    endif()
  elseif(SparseConformance_COMMAND)
    set(${problem} "SparseConformance_COMMAND is ${SparseConformance_COMMAND}, which is not the command `conformance`, or does not run \
here (--version: ${failed}). Give its path: -DSparseConformance_COMMAND=PATH" PARENT_SCOPE)
  else()
    set(${problem} "the command `conformance` was not found. In a checkout of the suite run \
`cargo build --release -p sparse-conformance`, which makes target/release/conformance; then put it on the path, or give it: \
-DSparseConformance_COMMAND=PATH" PARENT_SCOPE)
  endif()
endfunction()

# The header is in include/ of an installed prefix, or beside this folder in a checkout.
function(_sparse_conformance_include folder)
  foreach(candidate IN ITEMS "../include" "../../../include")
    get_filename_component(candidate "${candidate}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
    if(EXISTS "${candidate}/sparse_conformance.h")
      set(${folder} "${candidate}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${folder} "" PARENT_SCOPE)
endfunction()

# sparse_conformance_test(TARGET [NAME test] [TIER quick|full|extensive] [ONLY contract...] [SEED n] [TIMEOUT s] [ARGS option...])
#
# TARGET   a MODULE or SHARED library with the three functions of the header; the header's folder is added to it
# NAME     of the test; that of the target by default. A second test of one target needs one
# ONLY     contracts, with `*` for any text: "spmm.csr.*" (`conformance list contracts`); all that the kernel takes by default
# TIMEOUT  seconds after which CTest ends the test (its own default is 1500). TIER extensive takes hours, and needs one
# ARGS     further options of `conformance run`, up to the next of these words: ARGS --allow-thin. Relative paths start in the current
#          binary folder: ARGS --matrix ${CMAKE_CURRENT_SOURCE_DIR}/matrices
#
# The test passes if the run is clean (exit code 0, and a report is there). It fails for findings, for a run that is thin (nothing
# found, but too little looked at; ARGS --allow-thin lets that pass), and where nothing was judged or an option is wrong. Only a shard
# that holds no case (ARGS --shard I/N) passes. `ctest --output-on-failure` shows what the judge printed. The report is in
# conformance/TEST of the current binary folder (conformance/TEST/CONFIG where the generator has several configurations), for CI its
# report.junit.xml. The judge takes all processors, so that CTest runs no other test at the same time, unless you set the test's
# property RUN_SERIAL to FALSE.
function(sparse_conformance_test)
  if(ARGC EQUAL 0 OR "${ARGV0}" STREQUAL "")
    message(FATAL_ERROR "sparse_conformance_test(): a target is missing. Write sparse_conformance_test(TARGET ...), with the name of a library.")
  endif()
  set(target "${ARGV0}")
  set(usage "sparse_conformance_test(${target} ...)")
  # An empty argument is mostly a variable with a typing error; some versions of CMake would take the default for it and say nothing.
  math(EXPR last "${ARGC} - 1")
  foreach(at RANGE ${last})
    if("${ARGV${at}}" STREQUAL "")
      message(FATAL_ERROR "${usage}: the argument behind `${before}` is empty. Is the variable set that it is made of?")
    endif()
    set(before "${ARGV${at}}")
  endforeach()
  cmake_parse_arguments(PARSE_ARGV 1 asked "" "NAME;TIER;SEED;TIMEOUT" "ONLY;ARGS")
  list(REMOVE_ITEM asked_KEYWORDS_MISSING_VALUES ARGS) # ARGS ${MORE}, where there are no more
  if(NOT TARGET "${target}")
    message(FATAL_ERROR "${usage}: there is no target `${target}`. Write add_library(${target} MODULE my_kernel.c) before.")
  endif()
  get_target_property(aliased "${target}" ALIASED_TARGET)
  if(aliased)
    set(target "${aliased}")
  endif()
  get_target_property(type "${target}" TYPE)
  if(NOT type MATCHES "^(MODULE|SHARED)_LIBRARY$")
    message(FATAL_ERROR "${usage}: `${target}` is of type ${type}, and the judge loads a shared library. Make it one: \
add_library(${target} MODULE my_kernel.c). A program that speaks the protocol is a test of its own: \
add_test(NAME ${target} COMMAND SparseConformance::conformance run --exec PROGRAM)")
  endif()
  if(asked_UNPARSED_ARGUMENTS OR asked_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${usage}: not understood: ${asked_UNPARSED_ARGUMENTS} ${asked_KEYWORDS_MISSING_VALUES}. After the target come \
NAME, TIER, ONLY, SEED, TIMEOUT and ARGS, each with a value; other options of `conformance run` stand behind ARGS.")
  endif()
  if(DEFINED asked_TIER AND NOT asked_TIER MATCHES "^(quick|full|extensive)$")
    message(FATAL_ERROR "${usage}: TIER is `${asked_TIER}`, and must be quick, full or extensive.")
  endif()
  if("${asked_TIER}" STREQUAL "extensive" AND NOT DEFINED asked_TIMEOUT)
    message(FATAL_ERROR "${usage}: TIER extensive takes hours, and CTest ends a test after 1500 seconds. Give it more: TIMEOUT 86400")
  endif()
  foreach(number IN ITEMS SEED TIMEOUT)
    if(DEFINED asked_${number} AND NOT asked_${number} MATCHES "^[0-9]+$")
      message(FATAL_ERROR "${usage}: ${number} is `${asked_${number}}`, and must be a whole number.")
    endif()
  endforeach()
  foreach(contract IN LISTS asked_ONLY)
    if(contract MATCHES "^-")
      message(FATAL_ERROR "${usage}: ONLY takes contracts, and `${contract}` is an option. Options stand behind ARGS.")
    endif()
  endforeach()
  set(name "${target}")
  if(DEFINED asked_NAME)
    set(name "${asked_NAME}")
  endif()
  if(name MATCHES "/|^\\.\\.?$")
    message(FATAL_ERROR "${usage}: NAME is `${name}`, and must do as the name of one folder, in which the report is: no slash, not `.` or `..`.")
  endif()
  if(TEST "${name}")
    message(FATAL_ERROR "${usage}: there is a test `${name}` in this folder already. Give this one another name: NAME ${name}-full")
  endif()

  # The library is built with or without tests, so that the header comes first. Nothing is compiled for an imported one.
  get_target_property(imported "${target}" IMPORTED)
  if(NOT imported)
    _sparse_conformance_include(include)
    target_include_directories("${target}" PRIVATE "${include}")
  endif()
  # Without enable_testing() in the top folder, `ctest` in the build folder finds no tests, and passes.
  get_directory_property(enabled DIRECTORY "${CMAKE_SOURCE_DIR}" DEFINITION CMAKE_TESTING_ENABLED)
  if(NOT (enabled AND CMAKE_TESTING_ENABLED))
    # include(CTest) with BUILD_TESTING=OFF: whoever builds wants no tests.
    if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING)
      return()
    endif()
    message(FATAL_ERROR "${usage}: CTest would not see this test. Write enable_testing() in the top CMakeLists.txt \
(${CMAKE_SOURCE_DIR}), before this call and before add_subdirectory. To build without tests: -DBUILD_TESTING=OFF")
  endif()
  _sparse_conformance_find(problem)
  if(problem)
    message(FATAL_ERROR "${usage}: ${problem}")
  endif()
  if(CMAKE_CROSSCOMPILING)
    message(WARNING "${usage}: this build is for another system (CMAKE_CROSSCOMPILING), and the judge loads the library where CTest runs. \
If it can't be loaded there, the test fails.")
  endif()

  set(report "${CMAKE_CURRENT_BINARY_DIR}/conformance/${name}")
  get_property(several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(several)
    string(APPEND report "/$<CONFIG>")
  endif()
  set(options "")
  if(DEFINED asked_TIER)
    list(APPEND options --tier "${asked_TIER}")
  endif()
  if(DEFINED asked_SEED)
    list(APPEND options --seed "${asked_SEED}")
  endif()
  if(DEFINED asked_ONLY)
    list(JOIN asked_ONLY "," contracts)
    list(APPEND options --contracts "${contracts}")
  endif()
  # CMake reads options that stand behind `-P judge.cmake` as its own: --help would print its help, and pass. With a `=` before them
  # it reads none; judge.cmake takes that away.
  set(marked "")
  foreach(option IN LISTS options asked_ARGS)
    string(REPLACE ";" "\\;" option "=${option}")
    list(APPEND marked "${option}")
  endforeach()
  add_test(NAME "${name}" COMMAND "${CMAKE_COMMAND}" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/judge.cmake" "=${report}"
    "=${SparseConformance_COMMAND}" =run =--plugin "=$<TARGET_FILE:${target}>" =--report "=${report}" ${marked})
  set_tests_properties("${name}" PROPERTIES RUN_SERIAL TRUE ATTACHED_FILES_ON_FAIL "${report}/report.html")
  if(DEFINED asked_TIMEOUT)
    set_tests_properties("${name}" PROPERTIES TIMEOUT "${asked_TIMEOUT}")
  endif()
endfunction()

_sparse_conformance_include(_sparse_conformance_folder)
_sparse_conformance_find(_sparse_conformance_problem)
if(NOT _sparse_conformance_folder)
  set(_sparse_conformance_problem "sparse_conformance.h is not there: the package stands alone. Use conformance/cmake of a whole checkout, \
or a prefix that `cmake --install` made")
endif()
if(_sparse_conformance_problem)
  set(SparseConformance_FOUND FALSE)
  set(SparseConformance_NOT_FOUND_MESSAGE "${_sparse_conformance_problem}")
elseif(NOT TARGET SparseConformance::conformance)
  add_executable(SparseConformance::conformance IMPORTED GLOBAL)
  # The command runs where CMake does: it needs no emulator of the machine that is compiled for.
  set_target_properties(SparseConformance::conformance PROPERTIES IMPORTED_LOCATION "${SparseConformance_COMMAND}" CROSSCOMPILING_EMULATOR "")
  if(NOT SparseConformance_FIND_QUIETLY)
    message(STATUS "SparseConformance: ${SparseConformance_COMMAND}, version ${SparseConformance_COMMAND_VERSION}")
  endif()
endif()
if(_sparse_conformance_folder AND NOT TARGET SparseConformance::sparse_conformance)
  add_library(SparseConformance::sparse_conformance INTERFACE IMPORTED GLOBAL)
  set_target_properties(SparseConformance::sparse_conformance PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_sparse_conformance_folder}")
endif()
cmake_policy(POP)
