# Tells the system's linker of the library that was just installed to LIBRARY_DIR: it looks into a
# cache, in which a new library is not yet. Under DESTDIR (packages being made) there is nothing to
# tell; where the linker does not look (other prefixes), it is the user who is told what to set. Never
# fails the installation.
if(NOT "$ENV{DESTDIR}" STREQUAL "")
  return()
endif()
find_program(LDCONFIG ldconfig PATHS /sbin /usr/sbin)
if(NOT LDCONFIG)
  return()
endif()

execute_process(COMMAND ${LDCONFIG} -v -N -X OUTPUT_VARIABLE listed ERROR_QUIET)
string(REGEX MATCHALL "(^|\n)/[^:\n]*:" folders "${listed}")
file(REAL_PATH ${LIBRARY_DIR} library_dir)
foreach(folder IN LISTS folders)
  string(REGEX REPLACE "^\n|:$" "" folder "${folder}")
  file(REAL_PATH ${folder} folder)
  if(folder STREQUAL library_dir)
    execute_process(COMMAND ${LDCONFIG} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
    if(failed)
      message(STATUS "Run ldconfig as root, so that programs find libimp in ${LIBRARY_DIR}")
    endif()
    return()
  endif()
endforeach()
message(STATUS "Programs find libimp in ${LIBRARY_DIR}, where the system's linker does not look, with "
  "LD_LIBRARY_PATH=${LIBRARY_DIR}; pkg-config with PKG_CONFIG_PATH=${LIBRARY_DIR}/pkgconfig")
