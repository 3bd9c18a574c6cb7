# SPDX-License-Identifier: Apache-2.0
# Make the table of simple case folding from the Unicode standard's file. Run as a script:
#   cmake -DIN=<CaseFolding.txt> -DSHA256=<of the pairs> -DOUT=<file.c> -P case_fold.cmake
# writes `case_fold_pairs` of domain/properties/case_fold.h: the lines of status C and S, which give one character for
# one; F gives several, T is for Turkic languages alone.
#
# Keys of stored entries depend on the table, so it is the same in every build: a file of another version of the standard,
# whose table differs, is refused. A newer table would be another rule, with a number of its own in the declarations.
file(READ ${IN} text)
string(REPLACE ";" "," text "${text}")
string(REGEX MATCHALL "\n[0-9A-F]+, [CS], [0-9A-F]+," lines "${text}")
string(REGEX REPLACE "\n([0-9A-F]+), [CS], ([0-9A-F]+),;?" "    { 0x\\1, 0x\\2 },\n" pairs "${lines}")
string(SHA256 found "${pairs}")
if(NOT found STREQUAL SHA256)
    message(FATAL_ERROR "${IN} does not give the table of case folding that indexes are stored by, which is that of "
        "Unicode 15.0.0 (Debian 12's unicode-data): its SHA-256 is ${found}, wanted: ${SHA256}")
endif()
file(WRITE ${OUT} "/* Generated. */\n#include \"domain/properties/case_fold.h\"\n\n#include \"base/macros.h\"\n
const struct case_fold_pair case_fold_pairs[] = {\n${pairs}};\nconst size_t case_fold_pair_count = ARRAY_LEN(case_fold_pairs);\n")
