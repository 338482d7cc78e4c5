# What `cmake --install` puts where, in three components: program, library and docs. Everything may be moved afterwards.
# docs/install.md tells administrators of it.
set(data_dir ${CMAKE_INSTALL_DATADIR}/sabath)
file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
file(RELATIVE_PATH data_to_prefix /${data_dir} /)
file(RELATIVE_PATH module_to_prefix /${data_dir}/modules/sabath/VERSION /)

# Each component's files are listed below the prefix, so that an upgrade removes what is gone, and an uninstall all.
configure_file(cmake/record_installed.cmake.in record_installed.cmake @ONLY)
configure_file(cmake/uninstall.cmake.in uninstall.cmake @ONLY)
function(record_installed component)
  install(CODE "set(component ${component})" COMPONENT ${component})
  install(SCRIPT ${PROJECT_BINARY_DIR}/record_installed.cmake COMPONENT ${component})
endfunction()
install(SCRIPT ${PROJECT_BINARY_DIR}/record_installed.cmake ALL_COMPONENTS)  # the directories that are not there yet

# The program, and the data that it reads.
install(CODE "
  if(NOT EXISTS \"$<TARGET_FILE:sabath-cli>\")
    message(FATAL_ERROR \"the program is not built: cmake --build ${PROJECT_BINARY_DIR} --target sabath-cli; then install again\")
  endif()" COMPONENT program)
install(TARGETS sabath-cli COMPONENT program)
set_target_properties(sabath-cli PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}" INSTALL_RPATH_USE_LINK_PATH ON)
# CMake fills a run path that it will edit up with colons, and an empty part of one is the current directory.
set_target_properties(sabath-cli PROPERTIES BUILD_WITH_INSTALL_RPATH ON)
if(SABATH_PLUGINS)
  install(TARGETS ${SABATH_PLUGIN_TARGETS} LIBRARY DESTINATION ${SABATH_PLUGIN_DIRECTORY} COMPONENT program)
endif()
get_property(mpi_plugins GLOBAL PROPERTY SABATH_MPI_PLUGINS)
if(mpi_plugins)
  install(TARGETS ${mpi_plugins} LIBRARY DESTINATION ${SABATH_PLUGIN_DIRECTORY} COMPONENT program)
  install(FILES src/transfer/mpi/plugin/mpi_plugin.c src/transfer/mpi/plugin/mpi_table.h DESTINATION ${data_dir}/mpi COMPONENT program)
  install(PROGRAMS scripts/build-mpi-plugin DESTINATION ${data_dir}/mpi COMPONENT program)
endif()
function(install_data source destination)
  install(DIRECTORY ${source}/ DESTINATION ${destination} COMPONENT program ${ARGN} PATTERN __pycache__ EXCLUDE)
endfunction()
install_data(recipes ${data_dir}/shipped FILES_MATCHING PATTERN "*.json" PATTERN "*.py")
install_data(fetchers/command ${data_dir}/fetchers FILES_MATCHING PATTERN "*.json")
install_data(etc/engines ${data_dir}/engines FILES_MATCHING PATTERN "*.json" PATTERN "*.py")
install_data(etc/sites ${data_dir}/sites FILES_MATCHING PATTERN "*.json")
install_data(etc/jobs ${data_dir}/jobs)
install_data(etc/reframe ${data_dir}/reframe FILES_MATCHING PATTERN "*.py")
foreach(scheduler slurm pbs flux lsf)
  install_data(etc/${scheduler} ${data_dir}/jobs/${scheduler})
endforeach()
install_data(etc/man ${CMAKE_INSTALL_MANDIR})
install_data(etc/completions/bash ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install_data(etc/completions/zsh ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install_data(etc/completions/fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
configure_file(etc/modules/sabath.in modulefile @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION ${data_dir}/modules/sabath RENAME ${PROJECT_VERSION}
  COMPONENT program)
configure_file(etc/modules/sabath.lua.in modulefile.lua @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/modulefile.lua DESTINATION ${data_dir}/modules/sabath RENAME ${PROJECT_VERSION}.lua
  COMPONENT program)
install(FILES ${PROJECT_BINARY_DIR}/uninstall.cmake DESTINATION ${data_dir} COMPONENT program)
record_installed(program)

# The documents lie as in the source tree, so that their links lead on.
install(FILES README.md DESIGN.md HACKING.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT docs)
foreach(folder docs bench/results)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT docs FILES_MATCHING PATTERN "*.md")
endforeach()
foreach(folder bench fetchers)
  install(FILES ${folder}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder} COMPONENT docs)
endforeach()
record_installed(docs)

add_subdirectory(cmake/library)  # last: it says so where it is not built
