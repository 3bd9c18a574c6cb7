add_library(tavola_proto INTERFACE)
target_link_libraries(tavola_proto INTERFACE PkgConfig::PROTOBUF_C)
