# Compiler flags of every target: warnings are errors on gcc and clang, symbols hidden unless asked.
set(CMAKE_C_VISIBILITY_PRESET hidden)
add_compile_options(
  -Wall -Wextra -Werror -Wshadow -Wpointer-arith -Wstrict-prototypes -Wmissing-prototypes
  -Wvla -Wundef -Wwrite-strings -Wcast-qual -Wnull-dereference -Wno-unused-parameter
  -fno-common -fno-strict-aliasing)
add_compile_definitions(_GNU_SOURCE)
if(NOT CW_SANITIZE STREQUAL "")
  add_compile_options(-fsanitize=${CW_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${CW_SANITIZE})
  if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # gcc 12 sees null dereferences and uninitialised reads in the code that its sanitizers add.
    add_compile_options(-Wno-null-dereference -Wno-maybe-uninitialized -Wno-tsan)
  endif()
endif()
if(CW_FUZZ)
  # A fuzzer is led by the edges that an input reaches: those of the code under test, not only those
  # of the target's own few lines.
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_link_options(-fsanitize=fuzzer-no-link)
endif()
if(CW_COVERAGE)
  add_compile_options(--coverage -O0)
  add_link_options(--coverage)
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CW_SANITIZE STREQUAL "")
  add_compile_definitions(_FORTIFY_SOURCE=2)
  add_compile_options(-fstack-protector-strong)
endif()
