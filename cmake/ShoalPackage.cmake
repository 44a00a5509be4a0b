# The target `package` makes build/<preset>/shoal_<version>_<architecture>.deb,
# for hosts that run jobs: the three programs without debug information, the
# pages and the examples. Its dependencies are the libraries that the programs
# load (dpkg-shlibdeps), so a host needs no compiler. Needs dpkg-dev and file.
#
# The module defines the target itself and not through CPack, whose own target
# would build tests and benchmarks first.
set(SHOAL_PACKAGE_MAINTAINER "The Shoal developers <shoal@shoal.invalid>"
    CACHE STRING "The maintainer that the Debian package names")

set(SHOAL_PACKAGED_PROGRAMS shoal shoal-ps shoal-worker)
set(doc share/doc/shoal)
install(TARGETS ${SHOAL_PACKAGED_PROGRAMS} DESTINATION bin)
install(FILES packaging/copyright README.md CHANGELOG.md DESTINATION ${doc})
install(DIRECTORY docs DESTINATION ${doc})
install(FILES packaging/shoal-ps@.service packaging/shoal-worker@.service
  packaging/job.textproto packaging/job.env DESTINATION ${doc}/examples)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME shoal)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT ${SHOAL_PACKAGE_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "training of click-through-rate models over parameter servers")
set(CPACK_PACKAGE_DESCRIPTION
  "Shoal trains click-through-rate models with embedding tables that are too
large for one host, on clusters of ordinary CPU hosts. Every host runs one
parameter server, which holds a shard of all variables, and one worker, which
reads data, pulls rows and pushes gradients asynchronously.
.
This package has the programs shoal, shoal-ps and shoal-worker, their pages,
and examples of systemd units.")
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
  WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# For `shoal run --hosts`, on the host that starts the job.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS openssh-client)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

# With these files elsewhere CPack makes no target of its own.
set(CPACK_OUTPUT_CONFIG_FILE ${CMAKE_BINARY_DIR}/package/CPackConfig.cmake)
set(CPACK_SOURCE_OUTPUT_CONFIG_FILE
  ${CMAKE_BINARY_DIR}/package/CPackSourceConfig.cmake)
include(CPack)

add_custom_target(package
  COMMAND ${CMAKE_CPACK_COMMAND} --config ${CPACK_OUTPUT_CONFIG_FILE}
  WORKING_DIRECTORY ${CMAKE_BINARY_DIR} VERBATIM)
add_dependencies(package ${SHOAL_PACKAGED_PROGRAMS})
