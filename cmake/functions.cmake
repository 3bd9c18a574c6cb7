# SPDX-License-Identifier: Apache-2.0
# Functions of the build: one library for each folder, text files as constants, one check program for each folder of tests.

set(GENERATED_DIR ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${GENERATED_DIR})

add_library(tavola_options INTERFACE)
target_include_directories(tavola_options INTERFACE ${CMAKE_SOURCE_DIR} ${GENERATED_DIR})
target_compile_options(tavola_options INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2
    -fno-omit-frame-pointer)
target_compile_definitions(tavola_options INTERFACE _GNU_SOURCE)
if(TAVOLA_WERROR)
    target_compile_options(tavola_options INTERFACE -Werror)
endif()
if(TAVOLA_FAILPOINTS)
    target_compile_definitions(tavola_options INTERFACE TAVOLA_FAILPOINTS)
endif()
if(TAVOLA_SANITIZE)
    target_compile_options(tavola_options INTERFACE -fsanitize=${TAVOLA_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(tavola_options INTERFACE -fsanitize=${TAVOLA_SANITIZE})
endif()

# Stands before the names of tests, which ./dev test lists for all builds together.
set(TEST_PREFIX "")
if(TAVOLA_SANITIZE STREQUAL "thread")
    set(TEST_PREFIX "tsan.")
elseif(TAVOLA_SANITIZE)
    set(TEST_PREFIX "asan.")
endif()

# tavola_library(<folder> <what it may use>...): every *.c in the folder and below it.
function(tavola_library folder)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.c)
    list(FILTER sources EXCLUDE REGEX "/main\\.c$|/client/lib/") # see libtavola.cmake
    add_library(${folder} STATIC ${sources})
    target_link_libraries(${folder} PUBLIC tavola_options ${ARGN})
    if(TAVOLA_FUZZ)
        target_compile_options(${folder} PRIVATE -fsanitize-coverage=trace-pc)
    endif()
endfunction()

# tavola_embed(<library> <prefix> <pattern>): see embed.cmake; the header is "<library>/<prefix>.h".
function(tavola_embed library prefix pattern)
    file(GLOB files CONFIGURE_DEPENDS ${pattern})
    set(out ${GENERATED_DIR}/${library}/${prefix})
    add_custom_command(
        OUTPUT ${out}.c ${out}.h
        COMMAND ${CMAKE_COMMAND} -DPREFIX=${prefix} "-DFILES=${files}" -DOUT=${out}
            -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
        DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
        VERBATIM)
    target_sources(${library} PRIVATE ${out}.c ${out}.h)
endfunction()

# tavola_case_fold(<library>): see case_fold.cmake.
function(tavola_case_fold library)
    find_file(CASE_FOLDING CaseFolding.txt PATHS /usr/share/unicode REQUIRED)
    file(MAKE_DIRECTORY ${GENERATED_DIR}/${library})
    set(out ${GENERATED_DIR}/${library}/case_fold_pairs.c)
    add_custom_command(
        OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} -DIN=${CASE_FOLDING} -DOUT=${out}
            -DSHA256=280862427c75b42246413decd2bddb0e2c9a97ccfc8e8547240523c3e1e8d6ed
            -P ${CMAKE_SOURCE_DIR}/cmake/case_fold.cmake
        DEPENDS ${CASE_FOLDING} ${CMAKE_SOURCE_DIR}/cmake/case_fold.cmake
        VERBATIM)
    target_sources(${library} PRIVATE ${out})
endfunction()

# tavola_known_settings(<library> <table>...): see known_settings.cmake.
function(tavola_known_settings library)
    list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE tables)
    if(TAVOLA_FAILPOINTS)
        list(APPEND tables ${CMAKE_SOURCE_DIR}/base/failpoint.h)
    endif()
    set(out ${GENERATED_DIR}/${library}/known_settings.c)
    add_custom_command(
        OUTPUT ${out}
        COMMAND ${CMAKE_COMMAND} "-DTABLES=${tables}" -DOUT=${out} -P ${CMAKE_SOURCE_DIR}/cmake/known_settings.cmake
        DEPENDS ${tables} ${CMAKE_SOURCE_DIR}/cmake/known_settings.cmake
        VERBATIM)
    target_sources(${library} PRIVATE ${out})
endfunction()

# tavola_test(<name> <folders> <libraries>...): one check program from tests/<folder>/ and below: test_*.c; a file may
# stand for a folder. Every file defines `Suite *<file>_suite(void)`. Label and time limit are ctest's. With sanitizers all tests are
# in one process: to begin one for each, and to look for leaks at its end, takes longer than most tests.
function(tavola_test name folders)
    tavola_test_program(${name} "${folders}" ${ARGN})
    add_test(NAME ${TEST_PREFIX}${name} COMMAND ${name})
    set_tests_properties(${TEST_PREFIX}${name} PROPERTIES TIMEOUT 1800)
    if(TAVOLA_SANITIZE)
        set_tests_properties(${TEST_PREFIX}${name} PROPERTIES ENVIRONMENT CK_FORK=no)
    endif()
endfunction()

# The same without a test: a scenario runs the program.
function(tavola_test_program name folders)
    set(sources "")
    foreach(folder IN LISTS folders)
        if(folder MATCHES "\\.c$")
            list(APPEND sources ${CMAKE_SOURCE_DIR}/tests/${folder})
        else()
            file(GLOB_RECURSE found CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/test_*.c)
            list(APPEND sources ${found})
        endif()
    endforeach()
    if(NOT sources)
        return()
    endif()
    set(declarations "")
    set(calls "")
    foreach(path IN LISTS sources)
        get_filename_component(file ${path} NAME_WE)
        string(APPEND declarations "Suite *${file}_suite(void);\n")
        string(APPEND calls "    srunner_add_suite(runner, ${file}_suite());\n")
    endforeach()
    file(CONFIGURE OUTPUT ${GENERATED_DIR}/tests/${name}_main.c CONTENT "#include <check.h>
#include <stdlib.h>

@declarations@
int main(void)
{
    SRunner *runner = srunner_create(NULL);
    int failed;

    /* The time limits of test cases end tests that hang: a busy machine with sanitizers needs much longer than this one. */
    setenv(\"CK_TIMEOUT_MULTIPLIER\", \"5\", 0);
@calls@
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
" @ONLY)
    add_executable(${name} ${GENERATED_DIR}/tests/${name}_main.c ${sources})
    target_link_libraries(${name} PRIVATE ${ARGN} test_support PkgConfig::CHECK)
    target_compile_options(${name} PRIVATE -O0) # what is tested is optimized; optimizing its tests took a sixth of the build
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
endfunction()

# tavola_jemalloc(<program>): it takes its memory from jemalloc, unless the build does without (TAVOLA_JEMALLOC).
function(tavola_jemalloc program)
    if(JEMALLOC_LIBRARY)
        target_link_libraries(${program} PRIVATE -Wl,--no-as-needed ${JEMALLOC_LIBRARY} -Wl,--as-needed)
        target_compile_definitions(${program} PRIVATE TAVOLA_JEMALLOC)
    endif()
endfunction()
