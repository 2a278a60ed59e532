# What `cmake --install` puts where: the program, the library with its headers, its pkg-config
# file and its CMake package. The object code of libclockwise's two forms is the same.
include(CMakePackageConfigHelpers)

install(TARGETS clockwise RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS clockwise_shared clockwise_static EXPORT clockwise
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/clockwise DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")

# The pkg-config file finds its prefix from where it lies, so that an installed tree can be moved.
file(RELATIVE_PATH clockwise_prefix_of_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" clockwise_prefix_of_pc ${clockwise_prefix_of_pc})
configure_file(${CMAKE_CURRENT_LIST_DIR}/clockwise.pc.in clockwise.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/clockwise.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(clockwise_package ${CMAKE_INSTALL_LIBDIR}/cmake/clockwise)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/clockwiseConfig.cmake.in
                              clockwiseConfig.cmake INSTALL_DESTINATION ${clockwise_package})
write_basic_package_version_file(clockwiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/clockwiseConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/clockwiseConfigVersion.cmake
        DESTINATION ${clockwise_package})
install(EXPORT clockwise NAMESPACE clockwise:: FILE clockwiseTargets.cmake
        DESTINATION ${clockwise_package})

# The public headers are C++ too.
find_program(CW_CXX NAMES g++ clang++)
if(CW_TESTS AND CW_CXX)
  foreach(header clockwise profile round_table)
    add_test(NAME placement/${header}_h_is_cxx17
             COMMAND ${CW_CXX} -std=c++17 -fsyntax-only -Wall -Wextra -Wpedantic -Werror -x c++
                     -I ${PROJECT_SOURCE_DIR}/include
                     ${PROJECT_SOURCE_DIR}/include/clockwise/${header}.h)
  endforeach()
endif()
