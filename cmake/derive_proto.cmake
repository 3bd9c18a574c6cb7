# SPDX-License-Identifier: Apache-2.0
# Write the copy of a .proto that protoc-c gets. Run as a script:
#   cmake -DIN=<file> -DOUT=<file> -P derive_proto.cmake
# protobuf-c turns a `string` into a char pointer that ends at the first NUL and it has no maps. On the wire a
# string is bytes and a map is a repeated message, so the copy says `bytes` for every string (lengths are kept,
# UTF-8 is checked by domain/) and `repeated bytes` for every map (one slice per entry). Services go: their
# methods stand in the service's own table. Field definitions stand on lines of their own.
file(READ ${IN} text)
string(REGEX REPLACE "\nservice [A-Za-z]+ {[^}]*}" "" text "${text}")
string(REGEX REPLACE "(\n *)string " "\\1bytes " text "${text}")
string(REGEX REPLACE "(\n *)repeated string " "\\1repeated bytes " text "${text}")
string(REGEX REPLACE "(\n *)map<[^>]*> " "\\1repeated bytes " text "${text}")
file(WRITE ${OUT} "${text}")
