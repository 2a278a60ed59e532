# The Debian package: `cpack -G DEB` in a release build (./dev package). One package with the
# program, the library and its header; dependencies are found from what the files link.
install(FILES ${PROJECT_SOURCE_DIR}/docs/man/clockwise.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
              ${PROJECT_SOURCE_DIR}/docs/guide.md ${PROJECT_SOURCE_DIR}/docs/reference.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_PACKAGE_NAME clockwise)
set(CPACK_PACKAGE_VENDOR "the clockwise authors")
set(CPACK_PACKAGE_CONTACT "the clockwise authors <clockwise@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
    "Consistent hashing for Redis servers: router, command, C library")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CMAKE_BINARY_DIR} ${CMAKE_BINARY_DIR}/src)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "redis-server, redis-tools")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"One address for the Redis servers that you run: keys are spread over them by
consistent hashing, so that adding or losing a server moves as few as possible.
The package has the command clockwise (serve, locate, plan), and the library
libclockwise with its header for programs that place keys themselves.")
set(CPACK_GENERATOR DEB)
include(CPack)
