# SPDX-License-Identifier: Apache-2.0
# The library tavola_proto: C code for the derived copies of all .proto files (see derive_proto.cmake), the
# descriptor set of the public ones for reflection ("proto/public_descriptors.h"), and that of the derived ones
# for the test that compares the two ("proto/derived_descriptors.h").
find_program(PROTOC protoc REQUIRED)
find_program(PROTOC_C protoc-c REQUIRED)
find_path(GOOGLE_PROTO_DIR google/protobuf/timestamp.proto REQUIRED)
find_path(GRPC_PROTO_DIR grpc/health/v1/health.proto PATHS /usr/share/grpc-proto /usr/local/share/grpc-proto REQUIRED)

set(proto_out ${GENERATED_DIR}/proto)
set(proto_derived ${GENERATED_DIR}/proto_derived)
set(proto_names "")
set(proto_copies "")
set(proto_sources "")
set(proto_inputs "")

file(GLOB_RECURSE own_protos CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/api ${CMAKE_SOURCE_DIR}/api/*.proto)
# The protos in api/private are of other protocols, which programs use as clients or servers: not a part of the API, so reflection leaves them out.
set(private_protos ${own_protos})
list(FILTER private_protos INCLUDE REGEX "^private/")
list(FILTER own_protos EXCLUDE REGEX "^private/")
foreach(proto IN LISTS own_protos)
    list(APPEND proto_names ${proto})
    list(APPEND proto_inputs ${CMAKE_SOURCE_DIR}/api/${proto})
endforeach()
foreach(proto IN ITEMS timestamp duration any field_mask)
    list(APPEND proto_names google/protobuf/${proto}.proto)
    list(APPEND proto_inputs ${GOOGLE_PROTO_DIR}/google/protobuf/${proto}.proto)
endforeach()
foreach(proto IN ITEMS health/v1/health reflection/v1/reflection reflection/v1alpha/reflection)
    list(APPEND proto_names grpc/${proto}.proto)
    list(APPEND proto_inputs ${GRPC_PROTO_DIR}/grpc/${proto}.proto)
endforeach()
set(public_names ${proto_names})
set(public_inputs ${proto_inputs})
foreach(proto IN LISTS private_protos)
    list(APPEND proto_names ${proto})
    list(APPEND proto_inputs ${CMAKE_SOURCE_DIR}/api/${proto})
endforeach()

foreach(name input IN ZIP_LISTS proto_names proto_inputs)
    add_custom_command(
        OUTPUT ${proto_derived}/${name}
        COMMAND ${CMAKE_COMMAND} -DIN=${input} -DOUT=${proto_derived}/${name}
            -P ${CMAKE_SOURCE_DIR}/cmake/derive_proto.cmake
        DEPENDS ${input} ${CMAKE_SOURCE_DIR}/cmake/derive_proto.cmake
        VERBATIM)
    list(APPEND proto_copies ${proto_derived}/${name})
    string(REGEX REPLACE "\\.proto$" ".pb-c" stem ${name})
    list(APPEND proto_sources ${proto_out}/${stem}.c)
    list(APPEND proto_headers ${proto_out}/${stem}.h)
endforeach()

file(MAKE_DIRECTORY ${proto_out})
add_custom_command(
    OUTPUT ${proto_sources} ${proto_headers}
    COMMAND ${PROTOC_C} -I${proto_derived} --c_out=${proto_out} ${proto_names}
    DEPENDS ${proto_copies}
    VERBATIM)

# embed_descriptors(<name> <files it depends on> <protoc arguments>...)
function(embed_descriptors name depends)
    add_custom_command(
        OUTPUT ${proto_out}/${name}.c ${proto_out}/${name}.h
        COMMAND ${PROTOC} ${ARGN} --include_imports --descriptor_set_out=${proto_out}/${name}.pb ${public_names}
        COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DIN=${proto_out}/${name}.pb -DOUT=${proto_out}/${name}
            -P ${CMAKE_SOURCE_DIR}/cmake/embed_binary.cmake
        DEPENDS ${depends} ${CMAKE_SOURCE_DIR}/cmake/embed_binary.cmake
        VERBATIM)
endfunction()
embed_descriptors(public_descriptors "${public_inputs}"
    -I${CMAKE_SOURCE_DIR}/api -I${GRPC_PROTO_DIR} -I${GOOGLE_PROTO_DIR})
embed_descriptors(derived_descriptors "${proto_copies}" -I${proto_derived})

# Generated code is compiled without warnings, and its headers count as headers of the system. It is tables and calls of the library,
# so optimizing it further brings nothing, and took a third of its compilation.
add_library(tavola_proto STATIC ${proto_sources} ${proto_headers}
    ${proto_out}/public_descriptors.c ${proto_out}/public_descriptors.h
    ${proto_out}/derived_descriptors.c ${proto_out}/derived_descriptors.h)
target_compile_options(tavola_proto PRIVATE -w -O1)
if(TAVOLA_SANITIZE)
    target_compile_options(tavola_proto PRIVATE -fsanitize=${TAVOLA_SANITIZE} -fno-sanitize-recover=all)
endif()
target_include_directories(tavola_proto SYSTEM PUBLIC ${proto_out})
target_link_libraries(tavola_proto PUBLIC PkgConfig::PROTOBUF_C)

# The reference of the API as a page, made of the protos' comments: cmake --build build --target api_reference.
add_custom_target(api_reference
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/docs
    COMMAND /usr/bin/python3 -B ${CMAKE_SOURCE_DIR}/cmake/api_reference.py ${CMAKE_SOURCE_DIR}/api ${CMAKE_BINARY_DIR}/docs/api.md
    COMMENT "build/docs/api.md"
    VERBATIM)
