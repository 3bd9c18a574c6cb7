#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compile the example into FOLDER with Debian's packages default-jdk-headless, libgrpc-java, libprotobuf-java,
# protobuf-compiler-grpc-java-plugin, libnetty-java, libperfmark-java, protobuf-compiler and libprotobuf-dev. Other build tools have gRPC's plugin for protoc too.
#
# usage: build.sh FOLDER
#        java -cp "FOLDER:$(examples/java/build.sh --jars)" FirstSteps HOST:PORT [TOKEN]
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
jars=
for name in grpc-api grpc-context grpc-core grpc-netty grpc-protobuf grpc-protobuf-lite grpc-stub protobuf guava failureaccess \
    geronimo-annotation-1.3-spec perfmark-api perfmark-impl netty-buffer netty-codec netty-codec-http netty-codec-http2 \
    netty-codec-socks netty-common netty-handler netty-handler-proxy netty-resolver netty-transport netty-transport-native-unix-common; do
    if [ -e "/usr/share/java/$name.jar" ]; then jars="$jars${jars:+:}/usr/share/java/$name.jar"; fi
done
if [ "$1" = --jars ]; then
    echo "$jars"
    exit
fi

mkdir -p "$1/stubs"
protoc -I "$source/api" --plugin=protoc-gen-grpc-java=/usr/bin/grpc_java_plugin --java_out="$1/stubs" --grpc-java_out="$1/stubs" \
    "$source"/api/tavola/v1/*.proto "$source"/api/google/rpc/*.proto
find "$1/stubs" -name '*.java' >"$1/sources"
javac -nowarn -proc:none -cp "$jars" -d "$1" "@$1/sources" "$source/examples/java/FirstSteps.java"
