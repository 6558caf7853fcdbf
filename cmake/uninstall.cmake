# Removes the files that the last `cmake --install` wrote, and the folders of ours they leave empty.
# DESTDIR is respected, as in the installation.
#
#   cmake -DMANIFEST=install_manifest.txt -DPREFIX=/usr/local -P uninstall.cmake
if(NOT EXISTS ${MANIFEST})
  message(FATAL_ERROR "${MANIFEST} does not exist; nothing was installed from this build")
endif()

file(STRINGS ${MANIFEST} files)
set(folders)
foreach(file IN LISTS files)
  set(file "$ENV{DESTDIR}${file}")
  if(EXISTS "${file}" OR IS_SYMLINK "${file}")
    message(STATUS "Removing ${file}")
    file(REMOVE "${file}")
  endif()
  # Folders below the prefix that bear our name or are in one that does; others are everybody's.
  cmake_path(GET file PARENT_PATH folder)
  string(REPLACE "$ENV{DESTDIR}${PREFIX}" "" below "${folder}")
  while(below MATCHES "/imp(/|$)")
    list(APPEND folders "$ENV{DESTDIR}${PREFIX}${below}")
    cmake_path(GET below PARENT_PATH below)
  endwhile()
endforeach()

list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING) # the innermost first
foreach(folder IN LISTS folders)
  file(GLOB left "${folder}/*" "${folder}/.*")
  list(FILTER left EXCLUDE REGEX "/\\.\\.?$")
  if(EXISTS "${folder}" AND NOT left)
    message(STATUS "Removing ${folder}")
    file(REMOVE_RECURSE "${folder}")
  endif()
endforeach()
