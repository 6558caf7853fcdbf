# Run by CPack between installing to its folders and making packages of them: what Debian wants in a
# package and nobody else does. Man pages and changelogs are compressed, the licence is called
# copyright, and every package has its own.
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER ${component} COMPONENT)
  set(package ${CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME})
  set(share ${CPACK_TEMPORARY_DIRECTORY}/${component}${CPACK_PACKAGING_INSTALL_PREFIX}/share)
  set(folder ${share}/doc/${package})
  file(MAKE_DIRECTORY ${folder})

  file(READ ${CPACK_IMP_SOURCE}/LICENSE licence)
  string(REGEX MATCH "Copyright \\(c\\) ([^\n]*)" whole "${licence}")
  set(copyright "${CMAKE_MATCH_1}")
  string(REPLACE "\n\n" "\n.\n" licence "${licence}")
  string(REGEX REPLACE "\n([^\n])" "\n \\1" licence "\n${licence}")
  file(WRITE ${folder}/copyright
       "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
       "Upstream-Name: imp\n\n"
       "Files: *\nCopyright: ${copyright}\nLicense: Expat${licence}")
  file(REMOVE ${folder}/LICENSE)

  execute_process(COMMAND date --utc --rfc-email --date ${CPACK_IMP_DATE}
                  OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  set(version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
  file(WRITE ${folder}/changelog.Debian
       "imp (${version}) unstable; urgency=medium\n\n"
       "  * Version ${CPACK_PACKAGE_VERSION}; what is new in it is in the changelog of imp.\n\n"
       " -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  if(EXISTS ${folder}/CHANGELOG.md)
    file(RENAME ${folder}/CHANGELOG.md ${folder}/changelog)
  endif()

  # Debian 12 has Open MPI 4.1 and Debian 13 has 5.0, in packages of different names: libmpi.so.40, with one
  # ABI, in both. dpkg-shlibdeps reads this, and CPack removes it.
  if(package STREQUAL "imp-mpi")
    file(WRITE ${CPACK_TEMPORARY_DIRECTORY}/${component}/debian/shlibs.local
         "libmpi 40 libopenmpi3 (>= 4.1.4) | libopenmpi40\n")
  endif()

  file(GLOB texts ${folder}/changelog* ${share}/man/man1/*.1)
  execute_process(COMMAND gzip --best --no-name ${texts} COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB texts ${folder}/copyright ${folder}/changelog*)
  file(CHMOD ${texts} FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
