# Install rules, pkg-config file, CMake package and the Debian package.
