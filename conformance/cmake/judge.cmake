# What a test of sparse_conformance_test runs: cmake -P judge.cmake REPORT COMMAND...
#
# It takes away the report of the run before, so that a run which is broken off leaves none that is green, runs COMMAND, and fails
# if its exit code is not 0. The journal stays: ARGS --resume goes on with it.
set(report "${CMAKE_ARGV3}")
set(command "")
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(at RANGE 4 ${last})
  string(APPEND command " [==[${CMAKE_ARGV${at}}]==]")
endforeach()
file(GLOB old "${report}/report.*" "${report}/badge.*" "${report}/reproducers")
if(old)
  file(REMOVE_RECURSE ${old})
endif()
cmake_language(EVAL CODE "execute_process(COMMAND ${command} RESULT_VARIABLE code)")
if(EXISTS "${report}/report.junit.xml")
  message(NOTICE "report: ${report}/report.html, for CI: ${report}/report.junit.xml")
endif()
if(code STREQUAL "1")
  message(FATAL_ERROR "Exit code 1: there are findings, or too little was judged (thin). The lines above say which.")
elseif(code STREQUAL "2")
  message(FATAL_ERROR "Exit code 2: nothing was judged, because an option or the library is wrong, or no case fits the kernel. \
The lines above say which.")
elseif(NOT code STREQUAL "0")
  message(FATAL_ERROR "The judge ended unexpectedly: ${code}. Nothing is known about the kernel.")
endif()
