# What `cmake --install` puts where: the command with its man pages and completions, the library, its
# headers, and the two ways to find them, pkg-config's imp.pc and CMake's find_package(imp).
#
# The components are the packages that a distribution would make: imp, imp-mpi, libimp, libimp-dev and, where
# IMP_PYTHON_DIR is set, python3-pyimp.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/imp)
set(IMP_ZSH_DIR ${CMAKE_INSTALL_DATADIR}/zsh/site-functions CACHE STRING
    "Where zsh looks for completions; Debian's looks in share/zsh/vendor-completions")

if(TARGET imp_command)
  install(TARGETS imp_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT imp)
endif()
if(TARGET imp_mpi_command)
  install(TARGETS imp_mpi_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT imp-mpi)
  install(FILES ${PROJECT_SOURCE_DIR}/src/mpi/imp-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1
          COMPONENT imp-mpi)
endif()
install(TARGETS imp EXPORT imp
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libimp NAMELINK_COMPONENT libimp-dev
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libimp-dev)
if(BUILD_SHARED_LIBS)
  install(CODE "set(LIBRARY_DIR \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR})" COMPONENT libimp)
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/ldconfig.cmake COMPONENT libimp)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/imp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT libimp-dev FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/imp
        COMPONENT imp)
file(GLOB models CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/models/*.safetensors)
install(FILES ${models} DESTINATION ${CMAKE_INSTALL_DATADIR}/imp/models COMPONENT imp)

if(TARGET imp_documents)
  set(documents ${PROJECT_BINARY_DIR}/documents)
  install(DIRECTORY ${documents}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT imp)
  install(FILES ${documents}/imp.bash RENAME imp COMPONENT imp
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${documents}/_imp DESTINATION ${IMP_ZSH_DIR} COMPONENT imp)
  install(FILES ${documents}/imp.fish COMPONENT imp
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
# The README with all that its links lead to, except for the headers, which go where headers are.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
              ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md ${PROJECT_SOURCE_DIR}/LICENSE
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT imp)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/results
        DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT imp)
file(GLOB model_cards CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/models/*.md)
install(FILES ${model_cards} DESTINATION ${CMAKE_INSTALL_DOCDIR}/models COMPONENT imp)
foreach(folder bench python)
  install(FILES ${PROJECT_SOURCE_DIR}/${folder}/README.md
          DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT imp)
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/results DESTINATION ${CMAKE_INSTALL_DOCDIR}/bench
        COMPONENT imp)
install(FILES ${PROJECT_SOURCE_DIR}/python/examples/digits.py
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/python/examples COMPONENT imp)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/notebooks DESTINATION ${CMAKE_INSTALL_DOCDIR}/python
        COMPONENT imp)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT libimp-dev)

# An application needs the libraries behind a static libimp at every link; a shared one brings them
# along, and then their development files need not even be there. They are not left to
# `pkg-config --static`, which would ask for their static libraries too.
list(JOIN IMP_MODULES " " requires)
set(pc_requires)
set(static_libs)
if(NOT BUILD_SHARED_LIBS)
  set(pc_requires "Requires: ${requires}\n")
  list(JOIN IMP_EXTRA_LIBRARIES " " extra)
  set(static_libs " ${extra} -pthread -lm")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/imp.pc.in imp.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/imp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT libimp-dev)

install(EXPORT imp NAMESPACE imp:: FILE imp-targets.cmake DESTINATION ${package_dir}
        COMPONENT libimp-dev)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/imp-config.cmake.in imp-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the API.
write_basic_package_version_file(imp-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/imp-config.cmake ${PROJECT_BINARY_DIR}/imp-config-version.cmake
        DESTINATION ${package_dir} COMPONENT libimp-dev)

# The Python package, for distributions: pip is for everybody else.
set(IMP_PYTHON_DIR "" CACHE STRING "Where to install the Python package, such as lib/python3/dist-packages")
if(IMP_PYTHON_DIR)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/pyimp DESTINATION ${IMP_PYTHON_DIR} COMPONENT python3-pyimp
          PATTERN "__pycache__" EXCLUDE PATTERN "libimp.so*" EXCLUDE)
endif()

add_custom_target(uninstall
                  COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
                          -DPREFIX=${CMAKE_INSTALL_PREFIX} -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
                  COMMENT "Removing what was installed"
                  VERBATIM)
