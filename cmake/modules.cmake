# One small object library for each folder and room. `sabath_module(NAME DEPS ... LIBRARIES ...)` makes sabath_NAME from the
# folder's *.cc (EXCEPT some); `sabath_link(TARGET module... [WITHOUT module...] [ALONE])` links a target with these modules and all that
# they need, but for those that it has something else in the place of, or ALONE with these. `sabath_room()` in a folder below
# gives its *.cc to the module of the folder above: the fewer files the compiler is started for, the fewer times it reads
# the same headers, which are a third of the work.

add_library(sabath_options INTERFACE)
target_compile_options(sabath_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(sabath_options INTERFACE -Wno-restrict)  # false alarms on std::string + (gcc bug 105329)
endif()
if(CMAKE_UNITY_BUILD)  # neighbours of one batch shadow each other; the dev preset compiles each file by itself
  target_compile_options(sabath_options INTERFACE -Wno-shadow $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
endif()
target_compile_definitions(sabath_options INTERFACE SABATH_VERSION="${PROJECT_VERSION}" _FILE_OFFSET_BITS=64)
if(SABATH_SANITIZE)
  target_compile_options(sabath_options INTERFACE -fsanitize=${SABATH_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(sabath_options INTERFACE -fsanitize=${SABATH_SANITIZE})
  if(SABATH_SANITIZE MATCHES address)
    string(APPEND CMAKE_EXE_LINKER_FLAGS " -no-pie")  # or 130 MB of what checks need are relocated at each start
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # instrumented variants look uninitialized to gcc
    target_compile_options(sabath_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

# Sanitizer builds are made anew each time, so headers that most files include are parsed once for all targets with the
# same options, and what the system's headers define is not instrumented: its callers are.
if(SABATH_SANITIZE)
  target_compile_options(sabath_options INTERFACE -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/not_instrumented.txt)
endif()
function(sabath_precompile target kind)  # KIND HEADER...: `target` shares the parsed headers with all of its kind
  set(owner sabath_headers_${kind})
  if(NOT TARGET ${owner})
    file(WRITE ${PROJECT_BINARY_DIR}/${owner}.cc "")
    add_library(${owner} OBJECT ${PROJECT_BINARY_DIR}/${owner}.cc)
    get_target_property(options ${target} COMPILE_OPTIONS)
    target_compile_options(${owner} PRIVATE ${options})
    target_link_libraries(${owner} PRIVATE sabath_options Threads::Threads nlohmann_json::nlohmann_json fmt::fmt)
    target_compile_options(${owner} PRIVATE -pthread)  # as libraries' pkg-config files say
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${owner} PRIVATE -fPIE)
    endif()
    target_precompile_headers(${owner} PRIVATE ${ARGN})
  endif()
  target_compile_options(${target} PRIVATE -pthread)
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()
set(SABATH_COMMON_HEADERS <algorithm> <array> <chrono> <condition_variable> <deque> <filesystem> <functional> <map> <memory>
  <mutex> <optional> <set> <span> <stop_token> <string> <thread> <unordered_map> <variant> <vector> <fmt/format.h>
  <fmt/ranges.h> <nlohmann/json.hpp>)

function(sabath_room)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} DIRECTORY)
  set_property(GLOBAL APPEND PROPERTY SABATH_ROOMS_${folder} ${sources})
endfunction()

function(sabath_module name)
  cmake_parse_arguments(arg "" "" "DEPS;LIBRARIES;SOURCES;EXCEPT" ${ARGN})
  set(whole_folder OFF)
  if(NOT arg_SOURCES)
    set(whole_folder ON)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS *.cc)
    list(TRANSFORM arg_EXCEPT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(REMOVE_ITEM arg_SOURCES "" ${arg_EXCEPT})
    get_property(rooms GLOBAL PROPERTY SABATH_ROOMS_${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND arg_SOURCES ${rooms})
  endif()
  add_library(sabath_${name} OBJECT ${arg_SOURCES})
  target_include_directories(sabath_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
  target_link_libraries(sabath_${name} PRIVATE sabath_options Threads::Threads nlohmann_json::nlohmann_json fmt::fmt ${arg_LIBRARIES})
  set(kind plain)
  if(SABATH_FUZZ AND NOT name MATCHES "^(cli|door|mpi|record|report|run|serve|session|settings|stage|verbs)(_|$)")  # what the targets link
    target_compile_options(sabath_${name} PRIVATE -fsanitize=fuzzer-no-link
      -fsanitize-coverage-ignorelist=${PROJECT_SOURCE_DIR}/cmake/not_covered.txt)
    set(kind covered)
  endif()
  # These look at each byte. The others call them and libraries, and the presets compile those in two thirds of the time.
  if(name MATCHES "^(base(_.*)?|formats|hdf5|manifest|metrics)$")
    if(CMAKE_BUILD_TYPE STREQUAL "Release")
      target_compile_options(sabath_${name} PRIVATE -O3)
    endif()
  elseif(SABATH_SANITIZE)
    target_compile_options(sabath_${name} PRIVATE -O0)
    if(whole_folder)
      sabath_precompile(sabath_${name} ${kind} ${SABATH_COMMON_HEADERS})
    endif()
  endif()
  set_property(GLOBAL PROPERTY SABATH_DEPS_${name} "${arg_DEPS}")
  set_property(GLOBAL PROPERTY SABATH_LIBRARIES_${name} "${arg_LIBRARIES}")
endfunction()

function(sabath_link target)
  cmake_parse_arguments(arg "ALONE" "" "WITHOUT" ${ARGN})
  set(open ${arg_UNPARSED_ARGUMENTS})
  set(closed)
  while(open)
    list(POP_FRONT open module)
    if(NOT module IN_LIST closed)
      list(APPEND closed ${module})
      get_property(deps GLOBAL PROPERTY SABATH_DEPS_${module})
      if(NOT arg_ALONE)
        list(APPEND open ${deps})
      endif()
    endif()
  endwhile()
  list(REMOVE_ITEM closed ${arg_WITHOUT} "")
  foreach(module IN LISTS closed)
    get_property(libraries GLOBAL PROPERTY SABATH_LIBRARIES_${module})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:sabath_${module}>)
    target_link_libraries(${target} PRIVATE ${libraries})
  endforeach()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:sabath_options> Threads::Threads fmt::fmt $<BUILD_INTERFACE:nlohmann_json::nlohmann_json>)
endfunction()
