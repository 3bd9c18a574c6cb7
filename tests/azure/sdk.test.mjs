// SPDX-License-Identifier: Apache-2.0
// The JavaScript SDK of Azure Tables, unchanged, against a server. AZURE_TABLES has the connection string, AZURE_ENTITIES how many are
// read in pages.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { odata, TableClient, TableServiceClient, TableTransaction } from "@azure/data-tables";

const connection = process.env.AZURE_TABLES;
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
const service = TableServiceClient.fromConnectionString(connection, options);
const open = (table) => TableClient.fromConnectionString(connection, table, options);

async function all(pages) {
  const found = [];
  for await (const each of pages) found.push(each);
  return found;
}

// What the SDK makes of a refusal: a RestError with the status, the code and the text of the service.
async function refused(promise, statusCode, code, text) {
  const error = await promise.then(
    () => assert.fail(`${code} was expected`),
    (reason) => reason,
  );
  assert.deepEqual([error.statusCode, error.details?.odataError?.code ?? error.code], [statusCode, code], String(error));
  if (text) assert.ok(error.message.includes(text), error.message);
  return error;
}

describe("TableServiceClient", () => {
  it("creates, lists and deletes tables", async () => {
    for (const name of ["Alpha", "Beta", "Gamma"]) await service.createTable(name);
    const names = (await all(service.listTables())).map((table) => table.name);
    assert.deepEqual(names.filter((name) => ["Alpha", "Beta", "Gamma"].includes(name)), ["Alpha", "Beta", "Gamma"]);
    const some = await all(service.listTables({ queryOptions: { filter: odata`TableName eq ${"Beta"}` } }));
    assert.deepEqual(some.map((table) => table.name), ["Beta"]);
    for (const name of ["Alpha", "Beta", "Gamma"]) await service.deleteTable(name);
    assert.deepEqual(await all(service.listTables({ queryOptions: { filter: odata`TableName eq ${"Beta"}` } })), []);
  });

  it("takes a table that is there, and one that is not, as it does of the service", async () => {
    await service.createTable("Twice");
    await service.createTable("Twice"); // the SDK makes no error of TableAlreadyExists
    await open("Twice").createTable();
    await service.deleteTable("Twice");
    await service.deleteTable("Twice"); // nor of ResourceNotFound
    await open("Twice").deleteTable();
  });

  it("lists tables page by page", async () => {
    for (let n = 10; n < 35; n++) await service.createTable(`Paged${n}`);
    const queryOptions = { filter: odata`TableName ge ${"Paged"} and TableName lt ${"Pagee"}` };
    const sizes = [];
    for await (const page of service.listTables({ queryOptions }).byPage({ maxPageSize: 10 })) sizes.push(page.length);
    assert.deepEqual(sizes, [10, 10, 5]);
    for (let n = 10; n < 35; n++) await service.deleteTable(`Paged${n}`);
  });

  it("refuses names that no table can have", async () => {
    await refused(service.createTable("a-b"), 400, "InvalidResourceName", "The specifed resource name contains invalid characters.");
    await refused(service.createTable("ab"), 400, "OutOfRangeInput", "The specified resource name length is not within the permissible limits.");
    await refused(service.createTable("tables"), 400, "InvalidInput", "One of the request inputs is not valid.");
  });
});

describe("the service", () => {
  it("keeps its properties", async () => {
    const rule = { allowedOrigins: "https://example.com", allowedMethods: "GET,PUT", allowedHeaders: "*", exposedHeaders: "*", maxAgeInSeconds: 60 };
    await service.setProperties({ cors: [rule] });
    const kept = await service.getProperties();
    assert.deepEqual(kept.cors, [rule]);
    assert.equal(kept.logging.version, "1.0");
    await service.setProperties({ cors: [] });
    assert.deepEqual((await service.getProperties()).cors ?? [], []);
  });
});

describe("TableClient", () => {
  const client = open("Sdk");
  const key = (rowKey, partitionKey = "p") => ({ partitionKey, rowKey });
  before(() => client.createTable());
  after(() => client.deleteTable());

  it("inserts and reads", async () => {
    const made = await client.createEntity({ ...key("insert"), name: "Ada", age: 36 });
    assert.match(made.etag, /^W\/"/);
    assert.ok(made.requestId && made.clientRequestId && made.date);
    assert.equal(made.preferenceApplied, "return-no-content");
    const read = await client.getEntity("p", "insert");
    assert.deepEqual([read.partitionKey, read.rowKey, read.name, read.age, read.etag], ["p", "insert", "Ada", 36, made.etag]);
    assert.match(read.timestamp, /^\d{4}-\d\d-\d\dT[\d:]+\.\d{7}Z$/);
    await refused(client.createEntity(key("insert")), 409, "EntityAlreadyExists", "The specified entity already exists.");
  });

  it("keeps every type of property, both ways", async () => {
    const entity = {
      ...key("types"),
      text: "O'Neil \u0000 ä 😀 \"\\",
      empty: "",
      yes: true,
      no: false,
      int: -2147483648,
      double: { type: "Double", value: "0.1" },
      whole: { type: "Double", value: "3.0" },
      infinite: { type: "Double", value: "Infinity" },
      large: 9007199254740993n,
      small: -9223372036854775808n,
      date: new Date("2013-08-22T01:12:06.260Z"),
      early: { type: "DateTime", value: "1601-01-01T00:00:00Z" },
      late: { type: "DateTime", value: "9999-12-31T23:59:59.9999999Z" },
      guid: { type: "Guid", value: "C9DA6455-213D-42C9-9A79-3E9149A57833" },
      binary: new Uint8Array([0, 1, 254, 255]),
      none: null,
    };
    await client.createEntity(entity);
    const read = await client.getEntity("p", "types");
    for (const name of ["text", "empty", "yes", "no", "int", "large", "small", "date"]) assert.deepEqual(read[name], entity[name], name);
    assert.equal(read.double, 0.1);
    assert.equal(read.whole, 3);
    assert.equal(Number(read.infinite.value ?? read.infinite), Infinity);
    assert.deepEqual(read.guid, { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" });
    assert.deepEqual([...read.binary], [...entity.binary]);
    assert.ok(!("none" in read));
    const exact = await client.getEntity("p", "types", { disableTypeConversion: true });
    assert.deepEqual(exact.late, { type: "DateTime", value: "9999-12-31T23:59:59.9999999Z" });
    assert.deepEqual(exact.early, { type: "DateTime", value: "1601-01-01T00:00:00Z" });
    assert.deepEqual(exact.large, { type: "Int64", value: "9007199254740993" });
    assert.deepEqual(exact.int, { type: "Int32", value: "-2147483648" });
  });

  it("takes keys with every character that a key may have", async () => {
    for (const text of ["", " ", "O'Neil", "100%", "a+b", "ä😀", "a&b=c", "x,y)(", "..", "%27", "''", "a;b:c@d"]) {
      await client.upsertEntity({ partitionKey: text, rowKey: text, text });
      assert.equal((await client.getEntity(text, text)).text, text, text);
      const found = await all(client.listEntities({ queryOptions: { filter: odata`PartitionKey eq ${text} and RowKey eq ${text}` } }));
      assert.deepEqual(found.map((entity) => entity.rowKey), [text]);
      await client.deleteEntity(text, text);
    }
  });

  it("merges and replaces, with and without a condition", async () => {
    await client.upsertEntity({ ...key("update"), a: 1, b: 1 }, "Merge");
    const first = await client.getEntity("p", "update");
    await client.updateEntity({ ...key("update"), b: 2, a: null }, "Merge", { etag: first.etag });
    const second = await client.getEntity("p", "update");
    assert.deepEqual([second.a, second.b], [1, 2]);
    assert.notEqual(second.etag, first.etag);
    await refused(client.updateEntity({ ...key("update"), b: 3 }, "Merge", { etag: first.etag }), 412, "UpdateConditionNotSatisfied");
    await refused(client.updateEntity({ ...key("update"), b: 3 }, "Replace", { etag: first.etag }), 412, "UpdateConditionNotSatisfied");
    await refused(client.updateEntity({ ...key("update"), b: 3 }, "Replace", { etag: "strong" }), 400, "InvalidInput", "The etag value 'strong'");
    await client.updateEntity({ ...key("update"), c: 1 }, "Replace");
    const third = await client.getEntity("p", "update");
    assert.deepEqual([third.a, third.b, third.c], [undefined, undefined, 1]);
    await client.upsertEntity({ ...key("update"), d: 1 }, "Replace");
    assert.equal((await client.getEntity("p", "update")).c, undefined);
    await refused(client.updateEntity({ ...key("absent"), a: 1 }, "Merge"), 404, "ResourceNotFound");
    await refused(client.updateEntity({ ...key("absent"), a: 1 }, "Replace"), 404, "ResourceNotFound");
  });

  it("deletes", async () => {
    const made = await client.createEntity(key("delete"));
    await refused(client.deleteEntity("p", "delete", { etag: 'W/"other"' }), 412, "UpdateConditionNotSatisfied");
    await client.deleteEntity("p", "delete", { etag: made.etag });
    await refused(client.getEntity("p", "delete"), 404, "ResourceNotFound", "The specified resource does not exist.");
    await refused(client.deleteEntity("p", "delete"), 404, "ResourceNotFound");
  });

  it("reads thousands of entities in pages", async () => {
    const paged = open("SdkPages");
    await paged.createTable();
    const count = Number(process.env.AZURE_ENTITIES);
    const names = Array.from({ length: count }, (_, n) => `r${String(n).padStart(5, "0")}`);
    for (let begin = 0; begin < names.length; begin += 100)
      await paged.submitTransaction(names.slice(begin, begin + 100).map((rowKey, n) => ["create", { ...key(rowKey), n: begin + n }]));
    assert.deepEqual((await all(paged.listEntities())).map((entity) => entity.rowKey), names);
    const sizes = [];
    let token;
    for await (const page of paged.listEntities().byPage({ maxPageSize: 900 })) {
      sizes.push(page.length);
      token ??= page.continuationToken;
    }
    assert.deepEqual(sizes, [...Array(Math.floor(count / 900)).fill(900), count % 900].filter(Boolean));
    const rest = paged.listEntities().byPage({ maxPageSize: 1000, continuationToken: token });
    assert.equal((await rest.next()).value[0].rowKey, names[900]);
    const some = await all(paged.listEntities({ queryOptions: { filter: odata`n ge ${count - 100}`, select: ["rowKey", "n"] } }));
    assert.equal(some.length, 100);
    assert.deepEqual(Object.keys(some[0]).sort(), ["etag", "n", "rowKey"]);
    await paged.deleteTable();
  });

  it("carries out transactions, and nothing of one that fails", async () => {
    const transaction = new TableTransaction();
    for (const name of ["a", "b", "c"]) transaction.createEntity({ partitionKey: "tx", rowKey: name, n: 1 });
    transaction.upsertEntity({ partitionKey: "tx", rowKey: "d", n: 1 }, "Replace");
    const made = await client.submitTransaction(transaction.actions);
    assert.equal(made.status, 202);
    assert.deepEqual(made.subResponses.map((one) => one.status), [204, 204, 204, 204]);
    assert.match(made.getResponseForEntity("b").etag, /^W\//);
    const etag = (await client.getEntity("tx", "c")).etag;
    await client.submitTransaction([
      ["update", { partitionKey: "tx", rowKey: "a", m: 2 }, "Merge"],
      ["update", { partitionKey: "tx", rowKey: "b", m: 2 }, "Replace"],
      ["update", { partitionKey: "tx", rowKey: "c", m: 2 }, "Merge", { etag }],
      ["delete", { partitionKey: "tx", rowKey: "d" }],
      ["upsert", { partitionKey: "tx", rowKey: "e", m: 2 }, "Merge"],
    ]);
    const found = await all(client.listEntities({ queryOptions: { filter: odata`PartitionKey eq ${"tx"}` } }));
    assert.deepEqual(found.map(({ rowKey, n, m }) => [rowKey, n, m]), [["a", 1, 2], ["b", undefined, 2], ["c", 1, 2], ["e", undefined, 2]]);
    const failing = (...actions) => client.submitTransaction([["upsert", { partitionKey: "tx", rowKey: "never", n: 1 }], ...actions]);
    await refused(failing(["create", { partitionKey: "tx", rowKey: "a" }]), 409, "EntityAlreadyExists", "1:The specified entity already exists.");
    await refused(failing(["update", { partitionKey: "tx", rowKey: "absent" }, "Merge"]), 404, "ResourceNotFound");
    await refused(failing(["update", { partitionKey: "tx", rowKey: "c" }, "Merge", { etag }]), 412, "UpdateConditionNotSatisfied");
    await refused(failing(["upsert", { partitionKey: "tx", rowKey: "never" }]), 400, "InvalidDuplicateRow");
    await refused(failing(["upsert", { partitionKey: "tx", rowKey: "long", text: "x".repeat(32769) }]), 400, "PropertyValueTooLarge");
    const many = Array.from({ length: 101 }, (_, n) => ["upsert", { partitionKey: "tx", rowKey: `m${n}` }]);
    await refused(client.submitTransaction(many), 400, "InvalidInput");
    await refused(client.getEntity("tx", "never"), 404, "ResourceNotFound");
  });

  it("filters by every type", async () => {
    const values = {
      text: "it's",
      yes: true,
      int: 7,
      double: 0.5,
      large: 9007199254740993n,
      date: new Date("2013-08-22T01:12:06.260Z"),
      guid: { type: "Guid", value: "c9da6455-213d-42c9-9a79-3e9149a57833" },
      binary: new Uint8Array([10, 255]),
    };
    await client.upsertEntity({ partitionKey: "filter", rowKey: "match", ...values });
    await client.upsertEntity({ partitionKey: "filter", rowKey: "other", text: "no", yes: false, int: 8 });
    const filters = [
      odata`text eq ${values.text}`, odata`yes eq ${true}`, odata`int eq ${7}`, odata`double eq ${0.5}`,
      odata`large eq ${values.large}`, odata`date eq ${values.date}`, odata`guid eq guid'${values.guid.value}'`.replaceAll("''", "'"),
      "binary eq X'0aff'", odata`int lt ${8} and not (text eq ${"no"})`,
    ];
    for (const filter of filters) {
      const found = await all(client.listEntities({ queryOptions: { filter: `PartitionKey eq 'filter' and (${filter})` } }));
      assert.deepEqual(found.map((entity) => entity.rowKey), ["match"], filter);
    }
  });

  it("tells its errors", async () => {
    const absent = open("Absent");
    await refused(absent.getEntity("p", "r"), 404, "TableNotFound", "The table specified does not exist.");
    await refused(absent.createEntity(key("r")), 404, "TableNotFound");
    await refused(all(absent.listEntities()), 404, "TableNotFound");
    await refused(client.createEntity({ partitionKey: "a/b", rowKey: "r" }), 400, "OutOfRangeInput", "The 'PartitionKey' parameter of value 'a/b' is out of range.");
    await refused(client.createEntity({ partitionKey: "p".repeat(2048), rowKey: "r" }), 400, "PropertyValueTooLarge");
    await refused(client.createEntity({ ...key("r"), ["a".repeat(256)]: 1 }), 400, "PropertyNameTooLong");
    await refused(client.createEntity({ ...key("r"), "a-b": 1 }), 400, "PropertyNameInvalid");
    await refused(client.createEntity({ ...key("r"), text: "x".repeat(32769) }), 400, "PropertyValueTooLarge");
    await refused(client.createEntity({ ...key("r"), bytes: new Uint8Array(65537) }), 400, "PropertyValueTooLarge");
    await refused(client.createEntity({ ...key("r"), bytes: new Uint8Array(1048577) }), 400, "EntityTooLarge");
    const many = Object.fromEntries(Array.from({ length: 253 }, (_, n) => [`a${n}`, n]));
    await refused(client.createEntity({ ...key("r"), ...many }), 400, "TooManyProperties");
    await refused(client.createEntity({ ...key("r"), guid: { type: "Guid", value: "x" } }), 400, "InvalidInput");
    await refused(client.createEntity({ ...key("r"), int: { type: "Int32", value: "x" } }), 400, "InvalidInput");
    await refused(client.createEntity({ ...key("r"), bytes: new Uint8Array(4 * 1024 * 1024) }), 413, "RequestBodyTooLarge");
    await refused(all(client.listEntities({ queryOptions: { filter: "a gt" } })), 400, "InvalidInput");
    await refused(all(client.listEntities({ queryOptions: { filter: "startswith(a,'x') eq b" } })), 501, "NotImplemented");
  });
});

describe("an index of Tavola", () => {
  const table = "ThroughIndex";
  const endpoint = new URL(/TableEndpoint=([^;]+)/.exec(connection)[1]);
  const call = async (method, message) => {
    const reply = await fetch(new URL(`/tavola.v1.${method}`, endpoint), {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(message),
    });
    return { status: reply.status, message: await reply.json() };
  };

  /** A client whose requests have further headers; what replies say of themselves goes into `seen`. */
  function withHeaders(headers, seen) {
    const client = open(table);
    client.pipeline.addPolicy({
      name: "tavola",
      async sendRequest(request, next) {
        for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
        const reply = await next(request);
        seen.path = reply.headers.get("x-tavola-access-path");
        seen.lag = reply.headers.get("x-tavola-lag-ms");
        seen.token = reply.headers.get("x-tavola-consistency-token");
        return reply;
      },
    });
    return client;
  }

  it("answers an unchanged client that names it in a header", async () => {
    await open(table).createTable();
    const index = { name: "SdkByCity", table, shape: 1, place: 2, partitionKey: [{ property: "City" }] };
    assert.equal((await call("IndexService/CreateIndex", { index })).status, 200);
    const written = {}, seen = {};
    for (const n of [1, 2, 3])
      await withHeaders({}, written).createEntity({ partitionKey: "p", rowKey: `r${n}`, City: n % 2 ? "Rome" : "Oslo" });
    const end = Date.now() + 60_000;
    for (;;) {
      const client = withHeaders({ "x-tavola-index": "SdkByCity", "x-tavola-consistency-token": written.token ?? "" }, seen);
      const found = await all(client.listEntities({ queryOptions: { filter: odata`City eq ${"Rome"}` } })).catch((error) => error);
      if (Array.isArray(found)) {
        assert.deepEqual(found.map((entity) => entity.rowKey), ["r1", "r3"]);
        break;
      }
      assert.ok(["IndexNotReady", "IndexNotFound"].includes(found.details?.odataError?.code), String(found));
      assert.ok(Date.now() < end, String(found));
      await new Promise((resume) => setTimeout(resume, 100));
    }
    assert.equal(seen.path, "INDEX_LOOKUP");
    assert.match(seen.lag, /^\d+$/);
    await refused(
      all(withHeaders({ "x-tavola-index": "SdkByCity" }, seen).listEntities({ queryOptions: { filter: "Age eq 1" } })), 400, "InvalidInput");
  });
});
