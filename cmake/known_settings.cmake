# The names of all settings of all programs, from their tables, as a C array: one file of settings serves them
# all, and each refuses only what none of them knows. Run as a script:
#   cmake "-DTABLES=<file>;..." -DOUT=<path>.c -P known_settings.cmake
set(all "")
foreach(path IN LISTS TABLES)
    file(STRINGS ${path} rows REGEX "\\.name = \"TAVOLA_[A-Z0-9_]+\"")
    foreach(row IN LISTS rows)
        string(REGEX MATCH "\"TAVOLA_[A-Z0-9_]+\"" name "${row}")
        list(APPEND all "    ${name},")
    endforeach()
endforeach()
list(REMOVE_DUPLICATES all)
list(SORT all)
list(JOIN all "\n" all)
file(WRITE ${OUT}.new "#include \"base/config.h\"\n\nconst char *const config_known[] = {\n${all}\n    0,\n};\n")
execute_process(COMMAND ${CMAKE_COMMAND} -E copy_if_different ${OUT}.new ${OUT})
