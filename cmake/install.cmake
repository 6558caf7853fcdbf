# What `cmake --install` puts where: the command, the library, its headers, and the two ways to find
# them, pkg-config's imp.pc and CMake's find_package(imp).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/imp)

install(TARGETS imp_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS imp EXPORT imp
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/imp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/imp)
file(GLOB models CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/models/*.safetensors)
install(FILES ${models} DESTINATION ${CMAKE_INSTALL_DATADIR}/imp/models)

# An application needs the libraries behind a static libimp at every link; a shared one brings them
# along. They are not left to `pkg-config --static`, which would ask for their static libraries too.
list(JOIN IMP_MODULES " " requires)
set(requires_kind Requires.private)
set(static_libs)
if(NOT BUILD_SHARED_LIBS)
  set(requires_kind Requires)
  set(static_libs " ${OpenMP_C_FLAGS} -lm")
endif()
configure_file(${PROJECT_SOURCE_DIR}/cmake/imp.pc.in imp.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/imp.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(EXPORT imp NAMESPACE imp:: FILE imp-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/imp-config.cmake.in imp-config.cmake
                              INSTALL_DESTINATION ${package_dir})
# Before 1.0 a minor version may change the API.
write_basic_package_version_file(imp-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/imp-config.cmake ${PROJECT_BINARY_DIR}/imp-config-version.cmake
        DESTINATION ${package_dir})
