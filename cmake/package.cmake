# Debian packages, made by `make deb`: imp, libimp0, libimp-dev, python3-pyimp and, where there is MPI,
# imp-mpi, one for each component of install.cmake. A distribution's own packaging does not need this file.
set(IMP_MAINTAINER "imp authors <imp@packages.invalid>" CACHE STRING
    "Whom the packages name as their maintainer")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME imp)
set(CPACK_PACKAGE_CONTACT ${IMP_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # every package has its own below
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL imp libimp libimp-dev)
if(TARGET imp_mpi_command)
  list(APPEND CPACK_COMPONENTS_ALL imp-mpi)
endif()
if(IMP_PYTHON_DIR)
  list(APPEND CPACK_COMPONENTS_ALL python3-pyimp)
endif()
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/debian-files.cmake)
set(CPACK_IMP_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_IMP_DATE ${IMP_VERSION_DATE})

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# CPack's own postinst calls ldconfig, where policy asks for the trigger.
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBIMP_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
# Before 1.0 a minor version may change the ABI, so a program needs the version it was linked to.
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")

set(library libimp${PROJECT_VERSION_MAJOR})
set(version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
set(about "Infinite mixture prototypes represent a class by as many clusters as its
data needs, inferred from a few labelled and unlabelled examples (Allen,
Shelhamer, Shin and Tenenbaum, ICML 2019).")

set(CPACK_DEBIAN_IMP_PACKAGE_NAME imp)
set(CPACK_DEBIAN_IMP_PACKAGE_SECTION science)
set(CPACK_DEBIAN_IMP_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_IMP_DESCRIPTION "few-shot classification and clustering
${about}

The command classifies and clusters vectors, fits mixtures that can grow,
and trains embeddings of pictures.")

set(CPACK_DEBIAN_IMP-MPI_PACKAGE_NAME imp-mpi)
set(CPACK_DEBIAN_IMP-MPI_PACKAGE_SECTION science)
set(CPACK_DEBIAN_IMP-MPI_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_IMP-MPI_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_DEBIAN_IMP-MPI_DESCRIPTION "few-shot classification and clustering - with MPI
${about}

The command trains, evaluates, clusters and predicts as that of the package
imp does, by several processes on one machine or many, to the same bits.")

set(CPACK_DEBIAN_LIBIMP_PACKAGE_NAME ${library})
set(CPACK_DEBIAN_LIBIMP_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBIMP_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBIMP_DESCRIPTION "few-shot classification and clustering - library
${about}

This is the shared library that programs are linked to.")

set(CPACK_DEBIAN_LIBIMP-DEV_PACKAGE_NAME libimp-dev)
set(CPACK_DEBIAN_LIBIMP-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBIMP-DEV_PACKAGE_DEPENDS "${library} (= ${version})")
set(CPACK_DEBIAN_LIBIMP-DEV_DESCRIPTION "few-shot classification and clustering - development files
${about}

These are the headers, and the files by which pkg-config and CMake find the
library.")

set(CPACK_DEBIAN_PYTHON3-PYIMP_PACKAGE_NAME python3-pyimp)
set(CPACK_DEBIAN_PYTHON3-PYIMP_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON3-PYIMP_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON3-PYIMP_PACKAGE_DEPENDS
    "${library} (>= ${version}), python3 (>= 3.9), python3:any, python3-numpy")
set(CPACK_DEBIAN_PYTHON3-PYIMP_PACKAGE_RECOMMENDS python3-sklearn)
set(CPACK_DEBIAN_PYTHON3-PYIMP_PACKAGE_SUGGESTS "python3-matplotlib, python3-pandas, python3-torch")
set(CPACK_DEBIAN_PYTHON3-PYIMP_DESCRIPTION "few-shot classification and clustering - Python
${about}

This is the Python package pyimp: estimators of scikit-learn's kind, episodes,
methods with gradients, and training.")
# Modules are compiled when the package comes, and go with it.
foreach(pair "postinst;configure;py3compile" "prerm;;py3clean")
  list(GET pair 0 script)
  list(GET pair 1 when)
  list(GET pair 2 program)
  set(test "")
  if(when)
    set(test "[ \"$1\" = ${when} ] || exit 0\n")
  endif()
  file(WRITE ${PROJECT_BINARY_DIR}/debian/${script}
       "#!/bin/sh\nset -e\n${test}if command -v ${program} >/dev/null; then\n    ${program} -p python3-pyimp\nfi\n")
  file(CHMOD ${PROJECT_BINARY_DIR}/debian/${script} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
       GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()
set(CPACK_DEBIAN_PYTHON3-PYIMP_PACKAGE_CONTROL_EXTRA
    "${PROJECT_BINARY_DIR}/debian/postinst;${PROJECT_BINARY_DIR}/debian/prerm")

include(CPack)
