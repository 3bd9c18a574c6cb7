# SPDX-License-Identifier: Apache-2.0
# The names of all settings of all programs, from their tables, as a C array: one file of settings serves them
# all, and each refuses only what none of them knows. Run as a script:
#   cmake "-DTABLES=<file>;..." -DOUT=<path>.c -P known_settings.cmake
set(all "")
foreach(path IN LISTS TABLES)
    # Matched as one text: rows of a macro end with a backslash, which would join them in a list.
    file(READ ${path} text)
    string(REGEX MATCHALL "\\.name = \"TAVOLA_[A-Z0-9_]+\"" rows "${text}")
    list(TRANSFORM rows REPLACE "\\.name = (.*)" "    \\1,")
    list(APPEND all ${rows})
endforeach()
list(REMOVE_DUPLICATES all)
list(SORT all)
list(JOIN all "\n" all)
file(WRITE ${OUT}.new "#include \"base/config.h\"\n\nconst char *const config_known[] = {\n${all}\n    0,\n};\n")
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${OUT}.new ${OUT})
