// SPDX-License-Identifier: Apache-2.0

// A table, an index, entities, a query and a look-up, with the stubs that protoc generates. See examples/go/build.sh.
//
// usage: first_steps HOST:PORT [TOKEN]
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	tavolav1 "tavola/v1"
)

const table = "GoPeople"

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func text(value string) *tavolav1.Value {
	return &tavolav1.Value{Kind: &tavolav1.Value_StringValue{StringValue: value}}
}

func person(row, name string, age int32) *tavolav1.Entity {
	return &tavolav1.Entity{PartitionKey: "sales", RowKey: row, Properties: map[string]*tavolav1.Value{
		"Name": text(name), "Age": {Kind: &tavolav1.Value_Int32Value{Int32Value: age}}}}
}

// Under a request id a write happens once, however often it is sent.
func requestID() string {
	var bytes [16]byte
	_, err := rand.Read(bytes[:])
	must(err)
	return fmt.Sprintf("%x", bytes)
}

// The word in an error that programs act on: docs/errors.md.
func reasonOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.Reason
		}
	}
	return ""
}

func main() {
	channel, err := grpc.Dial(os.Args[1], grpc.WithInsecure())
	must(err)
	defer channel.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if len(os.Args) > 2 {
		ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+os.Args[2])
	}
	tables, entities, indexes := tavolav1.NewTableServiceClient(channel), tavolav1.NewEntityServiceClient(channel), tavolav1.NewIndexServiceClient(channel)
	operations := tavolav1.NewOperationServiceClient(channel)

	_, err = tables.CreateTable(ctx, &tavolav1.CreateTableRequest{Name: table})
	must(err)
	created, err := indexes.CreateIndex(ctx, &tavolav1.CreateIndexRequest{Index: &tavolav1.Index{
		Name: "GoPeopleByName", Table: table, Shape: tavolav1.IndexShape_INDEX_SHAPE_COPY, Place: tavolav1.IndexPlace_INDEX_PLACE_OTHER_PARTITION,
		PartitionKey: []*tavolav1.KeyPart{{Source: &tavolav1.KeyPart_Property{Property: "Name"}}}}})
	must(err)
	_, err = operations.WaitOperation(ctx, &tavolav1.WaitOperationRequest{OperationId: created.Status.Build.OperationId}) // until it is built
	must(err)

	for _, one := range []*tavolav1.Entity{person("0001", "Ada", 36), person("0002", "Grace", 41)} {
		_, err = entities.InsertEntity(ctx, &tavolav1.InsertEntityRequest{Table: table, Entity: one, RequestId: requestID()})
		must(err)
	}

	found, err := entities.QueryEntities(ctx, &tavolav1.QueryEntitiesRequest{Query: &tavolav1.Query{Table: table, Filter: "Age ge 40"}})
	must(err)
	for _, one := range found.Entities {
		fmt.Println("query:", one.RowKey, one.Properties["Name"].GetStringValue())
	}

	// Wait until the index shows every write.
	byName, err := indexes.LookupIndex(ctx, &tavolav1.LookupIndexRequest{Index: "GoPeopleByName", Equals: []*tavolav1.Value{text("Ada")},
		Freshness: &tavolav1.Freshness{Latest: true}})
	must(err)
	for _, one := range byName.Entities {
		fmt.Println("look-up:", one.RowKey, one.Properties["Age"].GetInt32Value())
	}

	_, err = entities.InsertEntity(ctx, &tavolav1.InsertEntityRequest{Table: table, Entity: person("0001", "Ada", 36)})
	fmt.Println("again:", status.Code(err), reasonOf(err))
}
