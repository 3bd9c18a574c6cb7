# SPDX-License-Identifier: Apache-2.0
# libtavola, the C client: client/lib with what it uses of the other folders, as a shared and as a static library.
#
# Both show the names of client/lib/tavola.h alone. All that goes into them is compiled as code that may lie at any address and
# with hidden names. The static library is one object file, in which hidden names are local: they can meet no name of the program
# that links it, nor those of our own programs. For the release the sources of the other folders are compiled a second time in
# that way, so that the programs pay nothing for it. With sanitizers, where speed does not matter, the programs are made of the
# same objects, which shortens the build.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(libtavola_dependencies grpc_core PkgConfig::PROTOBUF_C PkgConfig::JANSSON PkgConfig::CRYPTO PkgConfig::SSL
    PkgConfig::ZLIB Threads::Threads m)

# libtavola_part(<name> <library that has the sources> <what it uses>...): the library's sources, compiled for libtavola. Linking
# takes what is used. Of rpc it is the client's side alone: the server's has a close() and an accept4() of its own.
function(libtavola_part name library)
    get_target_property(sources ${library} SOURCES)
    if(library STREQUAL "rpc")
        list(FILTER sources INCLUDE REGEX "/(async|bytes|channel|code|tls)\\.c$")
    endif()
    add_library(${name} STATIC EXCLUDE_FROM_ALL ${sources})
    add_dependencies(${name} ${library}) # which makes the sources that are made
    set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    target_link_libraries(${name} PRIVATE ${ARGN})
endfunction()

libtavola_part(libtavola_rpc rpc tavola_options ${libtavola_dependencies})
if(TAVOLA_SANITIZE)
    set_target_properties(base domain api tavola_proto PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    set(libtavola_parts api libtavola_rpc domain base tavola_proto)
else()
    libtavola_part(libtavola_proto tavola_proto PkgConfig::PROTOBUF_C)
    target_compile_options(libtavola_proto PRIVATE -w -O1)
    target_include_directories(libtavola_proto PRIVATE ${proto_out})
    foreach(library IN ITEMS base domain api)
        libtavola_part(libtavola_${library} ${library} tavola_options ${libtavola_dependencies} PkgConfig::MICROHTTPD)
        target_include_directories(libtavola_${library} SYSTEM PRIVATE ${proto_out})
    endforeach()
    set(libtavola_parts libtavola_api libtavola_rpc libtavola_domain libtavola_base libtavola_proto)
endif()

# The methods of api/service_config.json as a table in C: "client/harmless_methods.h".
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/api/service_config.json)
file(READ ${CMAKE_SOURCE_DIR}/api/service_config.json service_config)
string(JSON method_names GET ${service_config} methodConfig 0 name)
string(JSON method_count LENGTH ${method_names})
math(EXPR last_method "${method_count} - 1")
set(harmless_methods "static const char *const harmless_methods[] = {\n")
foreach(i RANGE ${last_method})
    string(JSON service GET ${method_names} ${i} service)
    string(JSON method GET ${method_names} ${i} method)
    string(APPEND harmless_methods "    \"/${service}/${method}\",\n")
endforeach()
file(CONFIGURE OUTPUT ${GENERATED_DIR}/client/harmless_methods.h CONTENT "${harmless_methods}};\n" @ONLY)

file(GLOB libtavola_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/client/lib/*.c)
add_library(libtavola_objects OBJECT ${libtavola_sources})
set_target_properties(libtavola_objects PROPERTIES POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
target_compile_definitions(libtavola_objects PRIVATE TAVOLA_VERSION="${PROJECT_VERSION}")
target_include_directories(libtavola_objects SYSTEM PRIVATE ${proto_out})
target_link_libraries(libtavola_objects PRIVATE tavola_options ${libtavola_dependencies})
add_dependencies(libtavola_objects tavola_proto)

# ---- shared ----

set(libtavola_folder ${CMAKE_BINARY_DIR}/lib)
file(MAKE_DIRECTORY ${libtavola_folder})
add_library(tavola_c SHARED $<TARGET_OBJECTS:libtavola_objects>)
set_target_properties(tavola_c PROPERTIES
    OUTPUT_NAME tavola
    EXPORT_NAME tavola
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}
    PUBLIC_HEADER ${CMAKE_SOURCE_DIR}/client/lib/tavola.h
    LIBRARY_OUTPUT_DIRECTORY ${libtavola_folder})
target_include_directories(tavola_c INTERFACE
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/client/lib> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(tavola_c PRIVATE tavola_options -Wl,--start-group ${libtavola_parts} -Wl,--end-group
    ${libtavola_dependencies} -Wl,--exclude-libs,ALL -Wl,--as-needed)
if(NOT TAVOLA_SANITIZE)
    target_link_options(tavola_c PRIVATE -Wl,--no-undefined)
endif()

# ---- static ----

set(part_files "")
foreach(part IN LISTS libtavola_parts)
    list(APPEND part_files $<TARGET_FILE:${part}>)
endforeach()
add_custom_command(
    OUTPUT ${libtavola_folder}/libtavola.a
    COMMAND ${CMAKE_LINKER} -r -o ${libtavola_folder}/tavola.o $<TARGET_OBJECTS:libtavola_objects>
        --start-group ${part_files} --end-group
    COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${libtavola_folder}/tavola.o
    COMMAND ${CMAKE_COMMAND} -E rm -f ${libtavola_folder}/libtavola.a
    COMMAND ${CMAKE_AR} qcs ${libtavola_folder}/libtavola.a ${libtavola_folder}/tavola.o
    DEPENDS libtavola_objects $<TARGET_OBJECTS:libtavola_objects> ${libtavola_parts}
    COMMAND_EXPAND_LISTS
    VERBATIM)
add_custom_target(libtavola_static ALL DEPENDS ${libtavola_folder}/libtavola.a)
# What our own programs and tests link.
add_library(tavola_c_static STATIC IMPORTED GLOBAL)
add_dependencies(tavola_c_static libtavola_static)
set_target_properties(tavola_c_static PROPERTIES IMPORTED_LOCATION ${libtavola_folder}/libtavola.a)
target_link_libraries(tavola_c_static INTERFACE ${libtavola_dependencies})

# ---- installed ----

install(TARGETS tavola_c EXPORT tavola-targets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
install(FILES ${libtavola_folder}/libtavola.a DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(EXPORT tavola-targets NAMESPACE tavola:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tavola COMPONENT dev)
# The folder may be moved, and --prefix chosen later: all paths are relative to the file.
file(RELATIVE_PATH PC_INCLUDE_PATH /${CMAKE_INSTALL_LIBDIR}/pkgconfig /${CMAKE_INSTALL_INCLUDEDIR})
configure_file(${CMAKE_SOURCE_DIR}/client/lib/tavola.pc.in ${CMAKE_BINARY_DIR}/tavola.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tavola.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)
configure_package_config_file(${CMAKE_SOURCE_DIR}/client/lib/tavola-config.cmake.in
    ${CMAKE_BINARY_DIR}/tavola-config.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tavola)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tavola-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tavola-config.cmake ${CMAKE_BINARY_DIR}/tavola-config-version.cmake
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/tavola COMPONENT dev)
