# SPDX-License-Identifier: Apache-2.0
# Turn a binary file into C. Run as a script:
#   cmake -DNAME=<identifier> -DIN=<file> -DOUT=<path without ending> -P embed_binary.cmake
# writes OUT.h and OUT.c with `extern const unsigned char NAME[]` and `extern const size_t NAME_bytes`.
file(READ ${IN} hex HEX)
get_filename_component(base ${OUT} NAME)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT}.h "/* Generated. */\n#pragma once\n#include <stddef.h>\n"
    "extern const unsigned char ${NAME}[];\nextern const size_t ${NAME}_bytes;\n")
file(WRITE ${OUT}.c "#include \"${base}.h\"\nconst unsigned char ${NAME}[] = {\n${bytes}\n};\n"
    "const size_t ${NAME}_bytes = sizeof(${NAME});\n")
