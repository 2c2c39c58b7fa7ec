# What a test of sparse_conformance_test runs: cmake -P judge.cmake =REPORT =COMMAND =ARGUMENT...
#
# It takes away the report of the run before, so that a run which is broken off leaves no old green one, runs COMMAND, and fails if its
# exit code is not 0 or it wrote no report. The journal stays: ARGS --resume goes on with it. The `=` before each argument is there because
# CMake would read options as its own.
cmake_minimum_required(VERSION 3.18)
set(command "")
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(at RANGE 3 ${last})
  string(SUBSTRING "${CMAKE_ARGV${at}}" 1 -1 given_${at})
  if(at GREATER 3)
    string(APPEND command " \"\${given_${at}}\"")
  endif()
endforeach()
set(report "${given_3}")
# By name: a pattern would miss them in a folder whose path has a `[`.
foreach(old IN ITEMS report.html report.json report.junit.xml report.md report.sarif badge.svg badge.json reproducers)
  file(REMOVE_RECURSE "${report}/${old}")
endforeach()
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
elseif(NOT (EXISTS "${report}/report.json" AND EXISTS "${report}/report.junit.xml"))
  message(FATAL_ERROR "Exit code 0, but no report was written: nothing was judged. ARGS holds an option such as --help, or \
${given_4} is not the judge.")
endif()
