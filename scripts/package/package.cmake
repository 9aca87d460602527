# What `cmake --install` puts where: headers, libraries, programs, and the files by which other builds find them.
# Everything finds everything else by relative paths, so that the prefix may be moved, or packed elsewhere (DESTDIR).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(libraries shoal_runtime shoal_collectives shoal_launcher)
set(programs shoalrun shoal-demo shoal-train shoal-plan shoal-sim shoal-bench)
if(NOT SHOAL_PROGRAMS)
  set(programs shoalrun)
endif()

file(RELATIVE_PATH lib_from_bin ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
set_target_properties(${libraries} PROPERTIES INSTALL_RPATH "$ORIGIN")
set_target_properties(${programs} PROPERTIES INSTALL_RPATH "$ORIGIN/${lib_from_bin}")

foreach(folder runtime collectives launcher)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/runtime/include/shoal/runtime/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/shoal/runtime)
install(TARGETS ${libraries} shoal_shoal EXPORT shoal INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS ${programs})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# For CMake.
set(config_directory ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/shoalConfig.cmake.in ${PROJECT_BINARY_DIR}/shoalConfig.cmake
                              INSTALL_DESTINATION ${config_directory} NO_SET_AND_CHECK_MACRO)
# Before 1.0 every minor version may break its users.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/shoalConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT shoal NAMESPACE shoal:: FILE shoalTargets.cmake DESTINATION ${config_directory})
install(FILES ${PROJECT_BINARY_DIR}/shoalConfig.cmake ${PROJECT_BINARY_DIR}/shoalConfigVersion.cmake
        DESTINATION ${config_directory})

# For everybody else.
set(pkgconfig_directory ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH SHOAL_PREFIX_FROM_PKGCONFIG ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
file(RELATIVE_PATH SHOAL_INCLUDE_FROM_PREFIX ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
file(RELATIVE_PATH SHOAL_LIB_FROM_PREFIX ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
foreach(name shoal shoal-launcher)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_directory})
endforeach()
