#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Compile the example as FOLDER/first_steps with Debian's packages golang-go, golang-google-grpc-dev, golang-goprotobuf-dev,
# golang-google-genproto-dev, protoc-gen-go-1-3, protobuf-compiler and libprotobuf-dev. With modules, generate the stubs with
# protoc-gen-go and protoc-gen-go-grpc, and require google.golang.org/grpc; the example stays as it is.
#
# usage: build.sh FOLDER
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
known=github.com/golang/protobuf/ptypes
packages=",Mgoogle/protobuf/timestamp.proto=$known/timestamp,Mgoogle/protobuf/duration.proto=$known/duration"
packages="$packages,Mgoogle/protobuf/field_mask.proto=google.golang.org/genproto/protobuf/field_mask"
for file in "$source"/api/tavola/v1/*.proto; do
    packages="$packages,Mtavola/v1/$(basename "$file")=tavola/v1;tavolav1"
done

mkdir -p "$1/src"
protoc -I "$source/api" --go_out="plugins=grpc$packages:$1/src" \
    "$source"/api/tavola/v1/*.proto
cp "$source/examples/go/first_steps.go" "$1/"
cd "$1"
GO111MODULE=off GOPATH="$1:/usr/share/gocode" GOCACHE="$1/cache" go build -o first_steps first_steps.go
