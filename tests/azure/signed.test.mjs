// SPDX-License-Identifier: Apache-2.0
// The JavaScript SDK, unchanged, against a server that asks for credentials: keys, and signatures of tables and accounts.
// AZURE_ENDPOINT, AZURE_ACCOUNT and AZURE_KEY say where, whose and with which key.
import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import {
  AzureNamedKeyCredential, AzureSASCredential, generateAccountSas, generateTableSas, TableClient, TableServiceClient,
} from "@azure/data-tables";

const endpoint = process.env.AZURE_ENDPOINT;
const credential = new AzureNamedKeyCredential(process.env.AZURE_ACCOUNT, process.env.AZURE_KEY);
const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
const owner = new TableClient(endpoint, "Signed", credential, options);
const expiresOn = new Date(Date.now() + 600_000);
const withTable = (fields) => new TableClient(endpoint, "Signed", new AzureSASCredential(generateTableSas("Signed", credential, { expiresOn, ...fields })), options);
const key = (rowKey, partitionKey = "p") => ({ partitionKey, rowKey });

async function refused(promise, statusCode, code) {
  const error = await promise.then(() => assert.fail(`${code} was expected`), (reason) => reason);
  assert.deepEqual([error.statusCode, error.details?.odataError?.code ?? error.code], [statusCode, code], String(error));
}

async function rows(client) {
  const found = [];
  for await (const entity of client.listEntities()) found.push(entity.rowKey);
  return found;
}

// A server reads the policies of tables a few times a second.
async function waitFor(condition) {
  const end = Date.now() + 30_000;
  for (;;) {
    if (await condition().catch(() => false)) return;
    assert.ok(Date.now() < end, `never came true: ${condition}`);
    await new Promise((resume) => setTimeout(resume, 50));
  }
}

describe("credentials", () => {
  before(async () => {
    await owner.createTable();
    for (const name of ["a", "b", "c", "O'Neil ä%+"]) await owner.createEntity(key(name));
  });

  it("lets the owner of the key in", async () => {
    assert.deepEqual(await rows(owner), ["O'Neil ä%+", "a", "b", "c"]);
    assert.equal((await owner.getEntity("p", "O'Neil ä%+")).rowKey, "O'Neil ä%+");
    await owner.submitTransaction([["create", key("tx")], ["delete", key("c")]]);
    await owner.submitTransaction([["delete", key("tx")], ["create", key("c")]]);
    const other = new AzureNamedKeyCredential(process.env.AZURE_ACCOUNT, Buffer.alloc(32).toString("base64"));
    await refused(rows(new TableClient(endpoint, "Signed", other, options)), 403, "AuthenticationFailed");
  });

  it("takes requests to the secondary endpoint, whose path the SDK signs with its suffix", async () => {
    const service = new TableServiceClient(`${endpoint}-secondary`, credential, options);
    assert.equal((await service.getStatistics()).geoReplication.status, "live");
    assert.equal((await new TableClient(`${endpoint}-secondary`, "Signed", credential, options).getEntity("p", "a")).rowKey, "a");
  });

  it("gives a signature of a table what it permits", async () => {
    const reader = withTable({ permissions: { query: true } });
    assert.deepEqual(await rows(reader), ["O'Neil ä%+", "a", "b", "c"]);
    await refused(reader.createEntity(key("d")), 403, "AuthorizationPermissionMismatch");
    await refused(reader.deleteEntity("p", "a"), 403, "AuthorizationPermissionMismatch");
    const adder = withTable({ permissions: { add: true } });
    await adder.createEntity(key("d"));
    await refused(adder.getEntity("p", "d"), 403, "AuthorizationPermissionMismatch");
    await refused(adder.upsertEntity(key("d")), 403, "AuthorizationPermissionMismatch");
    await refused(adder.submitTransaction([["create", key("e")], ["delete", key("d")]]), 403, "AuthorizationPermissionMismatch");
    await withTable({ permissions: { delete: true } }).deleteEntity("p", "d");
    await withTable({ permissions: { add: true, update: true } }).upsertEntity(key("a"));
  });

  it("keeps a signature within its keys and its time", async () => {
    const narrow = withTable({
      permissions: { query: true, add: true, update: true, delete: true },
      startPartitionKey: "p", startRowKey: "a", endPartitionKey: "p", endRowKey: "b",
    });
    assert.deepEqual(await rows(narrow), ["a", "b"]);
    await refused(narrow.getEntity("p", "c"), 404, "ResourceNotFound");
    await refused(narrow.createEntity(key("z")), 403, "AuthorizationFailure");
    const late = withTable({ permissions: { query: true }, startsOn: new Date(Date.now() - 600_000), expiresOn: new Date(Date.now() - 60_000) });
    await refused(rows(late), 403, "AuthenticationFailed");
  });

  it("keeps stored policies, and what they take back", async () => {
    const policy = (permission) => [{ id: "readers", accessPolicy: { start: new Date(Date.now() - 60_000), expiry: expiresOn, permission } }];
    await owner.setAccessPolicy(policy("r"));
    const kept = await owner.getAccessPolicy();
    const seconds = (time) => Math.floor(time.getTime() / 1000); // the SDK sends no parts of them
    assert.deepEqual(kept.map(({ id, accessPolicy }) => [id, accessPolicy.permission, seconds(accessPolicy.expiry)]), [["readers", "r", seconds(expiresOn)]]);
    const sas = generateTableSas("Signed", credential, { identifier: "readers" });
    const reader = new TableClient(endpoint, "Signed", new AzureSASCredential(sas), options);
    await waitFor(async () => (await rows(reader)).length === 4);
    await owner.setAccessPolicy([]);
    await waitFor(async () => rows(reader).then(() => false, (error) => error.statusCode === 403));
  });

  it("gives a signature of the account what it permits", async () => {
    const sas = generateAccountSas(credential, {
      permissions: { list: true, write: true, delete: true, query: true, add: true }, resourceTypes: "sco", services: { table: true }, expiresOn,
    });
    const service = new TableServiceClient(endpoint, new AzureSASCredential(sas), options);
    await service.createTable("ByAccount");
    const names = [];
    for await (const table of service.listTables()) names.push(table.name);
    assert.ok(names.includes("ByAccount"));
    await new TableClient(endpoint, "ByAccount", new AzureSASCredential(sas), options).createEntity(key("a"));
    await service.deleteTable("ByAccount");
  });
});
