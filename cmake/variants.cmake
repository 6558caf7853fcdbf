# The kernels are compiled once per instruction set and chosen at run time.

set(IMP_AVX2_FLAGS -mavx2 -mfma -mtune=znver3)
# Only what kernels/dispatch.c checks for before it runs this variant.
set(IMP_AVX512_FLAGS -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mtune=znver3
    -mprefer-vector-width=512)

# imp_add_variant(NAME FLAG...): the object library imp_kernels_NAME, which is IMP_KERNEL_SOURCES
# compiled with the flags given. Each function carries the variant's name (kernels/vector.h).
function(imp_add_variant name)
  set(target imp_kernels_${name})
  add_library(${target} OBJECT ${IMP_KERNEL_SOURCES})
  target_compile_definitions(${target} PRIVATE IMP_VARIANT=${name})
  # -Wno-psabi: vectors wider than the registers are passed only to functions that are inlined, so
  # how a call would pass them does not matter.
  target_compile_options(${target} PRIVATE ${ARGN} -Wno-psabi $<$<NOT:$<CONFIG:Debug>>:-O3>)
  if(IMP_SANITIZE MATCHES "undefined")
    # Over unrolled loops this one check makes compiling five times slower, and a pointer that wraps
    # around does not get past the address sanitizer either.
    target_compile_options(${target} PRIVATE -fno-sanitize=pointer-overflow)
  endif()
  target_link_libraries(${target} PRIVATE imp_requirements)
endfunction()

# imp_add_variants(LIBRARY_VARIANTS TEST_VARIANTS): all variants of this machine's architecture;
# their targets are named in the two variables.
function(imp_add_variants library_variants test_variants)
  imp_add_variant(portable)
  set(in_library imp_kernels_portable)
  set(in_tests)
  if(IMP_ARM64)
    imp_add_variant(neon)
    list(APPEND in_library imp_kernels_neon)
  endif()
  if(IMP_X86_64)
    imp_add_variant(avx2 ${IMP_AVX2_FLAGS})
    imp_add_variant(avx512 ${IMP_AVX512_FLAGS})
    list(APPEND in_library imp_kernels_avx2 imp_kernels_avx512)
    if(IMP_BUILD_TESTS)
      # AVX-512's shapes in AVX2's instructions, so that the tests run those shapes on machines
      # without AVX-512. Never part of the library.
      imp_add_variant(wide ${IMP_AVX2_FLAGS})
      list(APPEND in_tests imp_kernels_wide)
    endif()
  endif()
  set(${library_variants} ${in_library} PARENT_SCOPE)
  set(${test_variants} ${in_library} ${in_tests} PARENT_SCOPE)
endfunction()
