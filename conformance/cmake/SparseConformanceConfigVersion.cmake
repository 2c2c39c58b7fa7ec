# Tells find_package(SparseConformance 0.1) whether this package will do. Its version is that of the suite and of the command
# (ci/examples.sh compares them). Before 1.0 a new second number may change what a caller sees, so that 0.1 takes 0.1.x only.
set(PACKAGE_VERSION 0.1.0)
string(REGEX MATCH "^[0-9]+\\.[0-9]+" _series "${PACKAGE_VERSION}")
set(PACKAGE_VERSION_EXACT FALSE)
set(PACKAGE_VERSION_COMPATIBLE FALSE)
if(PACKAGE_FIND_VERSION VERSION_EQUAL PACKAGE_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
elseif(PACKAGE_FIND_VERSION VERSION_LESS PACKAGE_VERSION AND
       NOT PACKAGE_FIND_VERSION VERSION_LESS _series)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
unset(_series)
