// SPDX-License-Identifier: Apache-2.0
/** A table: reads, writes, batches, queries, imports and watches of its entities. */
import { randomUUID } from "node:crypto";
import { putBlob } from "./blobs.js";
import { ResumedStream } from "./connection.js";
import { decodeEntity, decodeResult, encodeEntity, noteResult } from "./entity.js";
import { EntityNotFound } from "./errors.js";
import { load } from "./load.js";

const HOLDING = ["insert", "replace", "merge", "insertOrReplace", "insertOrMerge"]; // writes that may give an entity a content
const entityKey = (partitionKey, rowKey) => ({ partitionKey, rowKey });

/** What a read has cost. */
export function decodeStats(found) {
  return { accessPath: found.accessPath.slice("ACCESS_PATH_".length), index: found.index, rowsExamined: Number(found.rowsExamined),
    rowsReturned: Number(found.rowsReturned), bytesExamined: Number(found.bytesExamined) };
}

/** The answer to a query: an async iterable of entities, which follows all pages. Each iteration asks anew. */
export class Pages {
  #fetch; #options;

  /** @param {(pageSize: number, token: string) => Promise<{entities: object[], token: string, stats: object}>} fetch */
  constructor(fetch, { pageSize = 0, token = "" } = {}) {
    this.#fetch = fetch;
    this.#options = { pageSize, token };
  }

  /** Each page as it comes: {entities, token, stats}. A page may be empty and still not be the last one. */
  async *pages() {
    let { pageSize, token } = this.#options;
    do {
      const page = await this.#fetch(pageSize, token);
      yield page;
      token = page.token;
    } while (token);
  }

  async *[Symbol.asyncIterator]() {
    for await (const page of this.pages())
      yield* page.entities;
  }

  /** All entities. */
  async toArray() {
    const found = [];
    for await (const entity of this)
      found.push(entity);
    return found;
  }

  /** The first entity, or null. */
  async first() {
    for await (const entity of new Pages(this.#fetch, { ...this.#options, pageSize: 1 }))
      return entity;
    return null;
  }
}

/**
 * The changes of a table, for ever: {kind: "inserted"|"changed"|"deleted", entity, leftOut}. After a break it goes on by itself; each change
 * is told at least once. leftOut: the entity is a wide one with more properties than the feed keeps, and has its keys alone: read it. `token` is the position behind the changes whose message has been worked through.
 */
export class Watch {
  #stream; #messages; #first; #decrypt;

  constructor(stream, token, decrypt) {
    this.#stream = stream;
    this.#messages = stream[Symbol.asyncIterator]();
    this.#decrypt = decrypt;
    this.token = token;
  }

  /** Wait for the first message: from then on changes are told. */
  async begin(patienceMs) {
    this.#first = await this.#messages.next();
    this.#stream.patienceMs = patienceMs;
    return this;
  }

  /** End the iteration. */
  cancel() {
    this.#stream.cancel();
  }

  async *[Symbol.asyncIterator]() {
    try {
      for (;;) {
        const { done, value } = this.#first ?? await this.#messages.next();
        this.#first = null;
        if (done)
          return;
        for (const change of value.changes)
          yield { kind: change.deleted ? "deleted" : change.inserted ? "inserted" : "changed",
            entity: decodeEntity(change.entity, change.deleted || change.leftOut ? undefined : this.#decrypt), leftOut: change.leftOut };
        this.token = value.resumeToken;
      }
    } finally {
      this.cancel();
    }
  }
}

/** The given ETag; else, without a condition, that of an entity that was read; else `*`. */
function precondition(entity, { ifMatch, condition = "" } = {}) {
  return { ifMatch: ifMatch ?? ((!condition && entity?.$etag) || "*"), condition };
}

/** Writes of one partition that take effect together, or not at all: 1 to 100, each of another entity. */
export class Batch {
  #table; #requestId; #operations = []; #entities = [];

  constructor(table, requestId) {
    this.#table = table;
    this.#requestId = requestId;
  }

  #add(entity, operation) {
    this.#operations.push(operation);
    this.#entities.push(entity);
    return this;
  }

  #encode(entity) {
    return encodeEntity(entity, this.#table.encrypt);
  }

  insert(entity) {
    return this.#add(entity, { insert: this.#encode(entity) });
  }

  /** @param {{ifMatch?: string, condition?: string}} [options] */
  replace(entity, options) {
    return this.#add(entity, { replace: this.#encode(entity), precondition: precondition(entity, options) });
  }

  /** @param {{ifMatch?: string, condition?: string}} [options] */
  merge(entity, options) {
    return this.#add(entity, { merge: this.#encode(entity), precondition: precondition(entity, options) });
  }

  upsert(entity, { merge = false } = {}) {
    return this.#add(entity, { [merge ? "insertOrMerge" : "insertOrReplace"]: this.#encode(entity) });
  }

  /** @param {{ifMatch?: string, condition?: string}} [options] */
  delete(partitionKey, rowKey, options) {
    return this.#add(null, { delete: entityKey(partitionKey, rowKey), precondition: precondition(null, options) });
  }

  /** Send the batch; a result for each write. The error of a write that failed has its number in metadata.operation_index. */
  async execute() {
    const reply = await this.#table.write("ExecuteBatch", this.#requestId, { operations: this.#operations });
    const results = reply.results.map(decodeResult);
    results.forEach((result, at) => noteResult(this.#entities[at], result));
    return results;
  }
}

/**
 * A table by name; nothing is asked of the service until a method is called. Every write gets a new requestId unless one is given,
 * so that repeating it is harmless; "" sends none. Errors are those of docs/errors.md, as classes.
 */
export class Table {
  constructor(client, name, { encrypt, decrypt } = {}) {
    Object.assign(this, { client, name, encrypt, decrypt });
  }

  // ---- single entities ----

  /** The reply to a write. */
  write(method, requestId = randomUUID(), fields) {
    return this.client.send(`EntityService/${method}`, { table: this.name, requestId, ...fields });
  }

  async #put(method, entity, requestId, fields) {
    const result = decodeResult((await this.write(method, requestId, { entity: encodeEntity(entity, this.encrypt), ...fields })).result);
    noteResult(entity, result);
    return result;
  }

  /** Insert. EntityAlreadyExists. @param {{requestId?: string}} [options] */
  insert(entity, { requestId } = {}) {
    return this.#put("InsertEntity", entity, requestId);
  }

  /**
   * Replace all properties. EntityNotFound; ConditionNotMet. Without ifMatch and condition, an entity that was read is replaced in
   * the version that was read; "*" replaces any.
   * @param {{ifMatch?: string, condition?: string, requestId?: string}} [options]
   */
  replace(entity, options = {}) {
    return this.#put("ReplaceEntity", entity, options.requestId, { precondition: precondition(entity, options) });
  }

  /** Set the given properties and keep the others; the options of replace. */
  merge(entity, options = {}) {
    return this.#put("MergeEntity", entity, options.requestId, { precondition: precondition(entity, options) });
  }

  /** Insert, or replace (merge: merge into) what is there. @param {{merge?: boolean, requestId?: string}} [options] */
  upsert(entity, { merge = false, requestId } = {}) {
    return this.#put(merge ? "InsertOrMergeEntity" : "InsertOrReplaceEntity", entity, requestId);
  }

  /**
   * Write an entity and the content that this property of it holds, in one call: readers see both or none of them. What the property has
   * in `entity` is left out; it has the `reference` of the blob that is resolved. The errors of the write: then nothing was put. The table
   * has blobProperties.
   * @param {{action?: "insert"|"replace"|"merge"|"insertOrReplace"|"insertOrMerge", ifMatch?: string, condition?: string,
   *   contentType?: string, sha256?: Uint8Array, uploadId?: string}} [options] ifMatch, condition: of replace and merge; the others as for
   *   Client.putBlob. The content is not encrypted by the table's hook.
   */
  async putWithContent(entity, property, source, options = {}) {
    const { action = "insert", contentType = "", sha256 = new Uint8Array(), uploadId = "" } = options;
    if (!HOLDING.includes(action))
      throw new TypeError(`${action} is not one of ${HOLDING.join(", ")}`);
    const encoded = encodeEntity(entity, (partitionKey, rowKey, { [property]: _, ...kept }) =>
      (this.encrypt ? this.encrypt(partitionKey, rowKey, kept) : kept));
    const checked = action === "replace" || action === "merge" ? { precondition: precondition(entity, options) } : {};
    const write = { table: this.name, operation: { [action]: encoded, ...checked }, property };
    const { blob, result } = await putBlob(this.client.connection, source, { contentType, sha256, uploadId, write });
    if (result)
      noteResult(entity, decodeResult(result));
    return blob;
  }

  /** Delete. EntityNotFound; ConditionNotMet. @param {{ifMatch?: string, condition?: string, requestId?: string}} [options] */
  async delete(partitionKey, rowKey, options = {}) {
    const fields = { key: entityKey(partitionKey, rowKey), precondition: precondition(null, options) };
    return decodeResult((await this.write("DeleteEntity", options.requestId, fields)).result);
  }

  /** An entity group transaction: await people.batch().insert(...).delete(...).execute(). */
  batch({ requestId } = {}) {
    return new Batch(this, requestId);
  }

  /** One entity. EntityNotFound. @param {{select?: string[], afterTransaction?: string}} [options] */
  async get(partitionKey, rowKey, { select = [], afterTransaction = "" } = {}) {
    const fields = { table: this.name, key: entityKey(partitionKey, rowKey), options: { select, waitForTransaction: afterTransaction } };
    return decodeEntity((await this.client.send("EntityService/GetEntity", fields)).entity, this.decrypt);
  }

  /** One entity, or null. */
  async find(partitionKey, rowKey, options) {
    try {
      return await this.get(partitionKey, rowKey, options);
    } catch (error) {
      if (error instanceof EntityNotFound)
        return null;
      throw error;
    }
  }

  /** The entities of [partitionKey, rowKey] pairs in their order, null for each that is not there. */
  async getMany(keys, { select = [] } = {}) {
    const found = [];
    while (found.length < keys.length) {
      const part = keys.slice(found.length, found.length + 1000).map((pair) => entityKey(...pair));
      const reply = await this.client.send("EntityService/BatchGetEntities", { table: this.name, keys: part, options: { select } });
      found.push(...reply.results.map((one) => (one.entity ? decodeEntity(one.entity, this.decrypt) : null)));
    }
    return found;
  }

  // ---- many entities ----

  #query(filter, { descending = false, maxPlan = "unspecified" } = {}) {
    return { table: this.name, filter, descending, maxPlan: `ACCESS_PATH_${maxPlan.toUpperCase()}` };
  }

  /**
   * The entities that match filter text, in the order of their keys; odata`...` puts values into it.
   * @param {{select?: string[], descending?: boolean, maxPlan?: string, pageSize?: number, token?: string}} [options] maxPlan:
   *   refuse to run anything costlier (PlanTooExpensive); token: of a page of the same query: go on behind it
   */
  query(filter = "", options = {}) {
    const query = this.#query(filter, options);
    return new Pages(async (pageSize, pageToken) => {
      const fields = { query, pageSize, pageToken, options: { select: options.select ?? [] } };
      const reply = await this.client.send("EntityService/QueryEntities", fields);
      return { entities: reply.entities.map((one) => decodeEntity(one, this.decrypt)), token: reply.nextPageToken, stats: decodeStats(reply.stats) };
    }, options);
  }

  /**
   * All entities that match as one stream, which goes on by itself after a break.
   * @param {{select?: string[], descending?: boolean, maxPlan?: string, snapshot?: boolean}} [options] snapshot: as they were at
   *   one moment; a break ends such a scan. An account has one at once, for some minutes at most, because vacuum waits for it
   */
  async *scan(filter = "", options = {}) {
    const snapshot = options.snapshot ?? false;
    const request = { query: this.#query(filter, options), options: { select: options.select ?? [] }, snapshot, inParts: true };
    let large = null;
    for await (const message of new ResumedStream(this.client.connection, "EntityService/ScanEntities", request, { isWhole: snapshot })) {
      const { entities } = message;
      if (message.continued)
        Object.assign(entities[0].properties, large.properties);
      // A stream that goes on after a break begins the entity anew, so what is kept here may be dropped.
      large = message.continues ? entities.pop() : null;
      for (const one of entities)
        yield decodeEntity(one, this.decrypt);
    }
  }

  /** How many entities match; counted by the service, page by page. */
  async count(filter = "") {
    let total = 0, pageToken = "";
    do {
      const reply = await this.client.send("EntityService/CountEntities", { query: this.#query(filter), pageToken });
      total += Number(reply.count);
      pageToken = reply.nextPageToken;
    } while (pageToken);
    return total;
  }

  /** The access path that a query would take, and advice; nothing is read. */
  async explain(filter = "") {
    const reply = await this.client.send("EntityService/ExplainQuery", { query: this.#query(filter) });
    return { ...decodeStats(reply.expected), suggestions: reply.suggestions };
  }

  /** Delete what matches, as an Operation that goes on by itself. */
  async deleteRange(filter = "") {
    return this.client.operationOf((await this.client.send("EntityService/DeleteRange", { query: this.#query(filter) })).operation);
  }

  /**
   * Upsert the entities of an iterable or async iterable as one stream, which goes on by itself after a break; repeating it is harmless.
   * @returns {Promise<{committed: number, rejected: {position: number, key: string[], error: Error}[], consistencyTokens: string[]}>}
   */
  load(entities) {
    return load(this, entities);
  }

  /**
   * The changes from now on, or behind the token of an earlier watch; the table keeps a change feed. It is under way when this
   * returns. filter: over PartitionKey and RowKey. patienceMs: without an answer, after which a failure is thrown; by default never.
   * @param {{filter?: string, resume?: string, select?: string[], patienceMs?: number}} [options]
   */
  watch({ filter = "", resume = "", select = [], patienceMs = Infinity } = {}) {
    const request = { table: this.name, filter, resumeToken: resume, options: { select } };
    const stream = new ResumedStream(this.client.connection, "EntityService/WatchEntities", request);
    return new Watch(stream, resume, this.decrypt).begin(patienceMs);
  }

  // ---- the table itself ----

  /** The table's settings, a message tavola.v1.Table. */
  async info() {
    return (await this.client.send("TableService/GetTable", { name: this.name })).table;
  }

  /** Change settings: {changeFeed, sampleQueries, defaultMaxPlan, policies}. */
  async update(settings) {
    const paths = Object.keys(settings).map((name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
    return (await this.client.send("TableService/UpdateTable", { table: { name: this.name, ...settings }, updateMask: { paths } })).table;
  }

  /** Delete the table with its entities and indexes; the name is free at once. Returns the Operation that purges it. */
  async drop() {
    return this.client.operationOf((await this.client.send("TableService/DeleteTable", { name: this.name })).operation);
  }

  /** Client.createIndex for this table. */
  createIndex(name, partitionKey, options) {
    return this.client.createIndex(name, this, partitionKey, options);
  }

  /** An index of this table by name; entities it finds go through the table's hooks. */
  index(name) {
    return this.client.index(name, { decrypt: this.decrypt });
  }
}
