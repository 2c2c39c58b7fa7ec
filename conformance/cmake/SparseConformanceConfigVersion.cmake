# Tells find_package(SparseConformance 0.1) whether this package will do. Its version is that of the suite and of the command
# (ci/cmake.sh compares them). Before 1.0 a new second number may change what a caller sees, so that 0.1 takes 0.1.x only. Who asks for
# 0 takes any 0.x, and who gives both ends of a range takes what lies in it.
set(PACKAGE_VERSION 0.1.0)
set(PACKAGE_VERSION_EXACT FALSE)
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(PACKAGE_FIND_VERSION_RANGE)
  if(PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION_MIN AND
     (PACKAGE_VERSION VERSION_LESS PACKAGE_FIND_VERSION_MAX OR
      (PACKAGE_FIND_VERSION_RANGE_MAX STREQUAL "INCLUDE" AND PACKAGE_VERSION VERSION_EQUAL PACKAGE_FIND_VERSION_MAX)))
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  endif()
else()
  set(_series "^[0-9]+\\.[0-9]+")
  if(PACKAGE_FIND_VERSION_COUNT EQUAL 1)
    set(_series "^[0-9]+")
  endif()
  string(REGEX MATCH "${_series}" _series "${PACKAGE_VERSION}")
  if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  elseif(PACKAGE_FIND_VERSION VERSION_LESS PACKAGE_VERSION AND PACKAGE_FIND_VERSION VERSION_GREATER_EQUAL _series)
    set(PACKAGE_VERSION_COMPATIBLE TRUE)
  endif()
  unset(_series)
endif()
