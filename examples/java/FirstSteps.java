// SPDX-License-Identifier: Apache-2.0
// A table, an index, entities, a query and a look-up, with the stubs that protoc generates. See examples/java/build.sh.
//
// usage: java FirstSteps HOST:PORT [TOKEN]

import com.google.protobuf.Any;
import google.rpc.ErrorDetails.ErrorInfo;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import tavola.v1.EntityOuterClass.Entity;
import tavola.v1.EntityOuterClass.Value;
import tavola.v1.EntityServiceGrpc;
import tavola.v1.EntityServiceOuterClass.InsertEntityRequest;
import tavola.v1.EntityServiceOuterClass.Query;
import tavola.v1.EntityServiceOuterClass.QueryEntitiesRequest;
import tavola.v1.IndexServiceGrpc;
import tavola.v1.IndexServiceOuterClass.CreateIndexRequest;
import tavola.v1.IndexServiceOuterClass.Freshness;
import tavola.v1.IndexServiceOuterClass.Index;
import tavola.v1.IndexServiceOuterClass.IndexPlace;
import tavola.v1.IndexServiceOuterClass.IndexShape;
import tavola.v1.IndexServiceOuterClass.KeyPart;
import tavola.v1.IndexServiceOuterClass.LookupIndexRequest;
import tavola.v1.OperationServiceGrpc;
import tavola.v1.OperationServiceOuterClass.WaitOperationRequest;
import tavola.v1.TableServiceGrpc;
import tavola.v1.TableServiceOuterClass.CreateTableRequest;

class FirstSteps {
    static final String TABLE = "JavaPeople";

    static Value text(String value) {
        return Value.newBuilder().setStringValue(value).build();
    }

    static Entity person(String row, String name, int age) {
        return Entity.newBuilder().setPartitionKey("sales").setRowKey(row).putProperties("Name", text(name))
            .putProperties("Age", Value.newBuilder().setInt32Value(age).build()).build();
    }

    static final Metadata.Key<byte[]> DETAILS = Metadata.Key.of("grpc-status-details-bin", Metadata.BINARY_BYTE_MARSHALLER);

    /* The word in an error that programs act on: docs/errors.md. */
    static String reasonOf(StatusRuntimeException error) throws Exception {
        byte[] details = error.getTrailers().get(DETAILS);

        for (Any detail : google.rpc.StatusOuterClass.Status.parseFrom(details).getDetailsList())
            if (detail.is(ErrorInfo.class))
                return detail.unpack(ErrorInfo.class).getReason();
        return "";
    }

    public static void main(String[] words) throws Exception {
        ManagedChannel channel = NettyChannelBuilder.forTarget(words[0]).usePlaintext().build();
        Metadata headers = new Metadata();

        if (words.length > 1)
            headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + words[1]);
        var credential = MetadataUtils.newAttachHeadersInterceptor(headers);
        var tables = TableServiceGrpc.newBlockingStub(channel).withInterceptors(credential);
        var entities = EntityServiceGrpc.newBlockingStub(channel).withInterceptors(credential);
        var operations = OperationServiceGrpc.newBlockingStub(channel).withInterceptors(credential);
        var indexes = IndexServiceGrpc.newBlockingStub(channel).withInterceptors(credential);

        tables.createTable(CreateTableRequest.newBuilder().setName(TABLE).build());
        var created = indexes.createIndex(CreateIndexRequest.newBuilder().setIndex(Index.newBuilder().setName("JavaPeopleByName").setTable(TABLE)
            .setShape(IndexShape.INDEX_SHAPE_COPY).setPlace(IndexPlace.INDEX_PLACE_OTHER_PARTITION)
            .addPartitionKey(KeyPart.newBuilder().setProperty("Name"))).build());
        operations.waitOperation(WaitOperationRequest.newBuilder() // until it is built
            .setOperationId(created.getStatus().getBuild().getOperationId()).build());

        for (Entity one : new Entity[] { person("0001", "Ada", 36), person("0002", "Grace", 41) })
            entities.insertEntity(InsertEntityRequest.newBuilder().setTable(TABLE).setEntity(one)
                .setRequestId(UUID.randomUUID().toString()).build()); // under an id a write happens once, however often it is sent

        var query = Query.newBuilder().setTable(TABLE).setFilter("Age ge 40");
        for (Entity one : entities.queryEntities(QueryEntitiesRequest.newBuilder().setQuery(query).build()).getEntitiesList())
            System.out.println("query: " + one.getRowKey() + " " + one.getPropertiesOrThrow("Name").getStringValue());

        var byName = LookupIndexRequest.newBuilder().setIndex("JavaPeopleByName").addEquals(text("Ada"))
            .setFreshness(Freshness.newBuilder().setLatest(true)); // wait until the index shows every write
        for (Entity one : indexes.withDeadlineAfter(60, TimeUnit.SECONDS).lookupIndex(byName.build()).getEntitiesList())
            System.out.println("look-up: " + one.getRowKey() + " " + one.getPropertiesOrThrow("Age").getInt32Value());

        try {
            entities.insertEntity(InsertEntityRequest.newBuilder().setTable(TABLE).setEntity(person("0001", "Ada", 36)).build());
        } catch (StatusRuntimeException error) {
            System.out.println("again: " + error.getStatus().getCode() + " " + reasonOf(error));
        }
        channel.shutdown().awaitTermination(5, TimeUnit.SECONDS);
    }
}
