// SPDX-License-Identifier: Apache-2.0
/** Client of the table service Tavola; docs/node.md is the guide, docs/errors.md lists every reason. */
import { BlobReader, decodeBlob, putBlob } from "./blobs.js";
import { Connection } from "./connection.js";
import { IndexAlreadyExists, TableAlreadyExists } from "./errors.js";
import { Index, declaration } from "./indexes.js";
import { Table } from "./table.js";
import { Operation, Transaction } from "./transaction.js";

export { Account } from "./credentials.js";
export * from "./errors.js";
export { Double, Guid, odata } from "./values.js";
export { Batch, Pages, Table, Watch } from "./table.js";
export { DecryptionError, Encryption, KeyCommand, KeyRing } from "./encryption.js";
export * as keys from "./keys.js";
export { BlobReader, Index, Operation, Transaction };

/**
 * A connection to the service.
 *
 * target     HOST:PORT, unix:PATH or dns:///NAME:PORT; else TAVOLA_TARGET, else 127.0.0.1:50051
 * token      a text, an Account, or a function that makes a text; else TAVOLA_TOKEN, or the file TAVOLA_TOKEN_FILE. What is made is
 *            made anew when a third of its life is left.
 * tls        true: the system's authorities; a file of authorities; {ca, certificate, key}; false: plain text. Else TAVOLA_CA. A
 *            token is sent in plain text to this machine only: TypeError.
 * timeoutMs  milliseconds that a call may take with all its repeats; 30,000
 */
export class Client {
  constructor(target, options) {
    this.connection = new Connection(target, options);
  }

  /** End the connection. */
  close() {
    this.connection.close();
  }

  /** The reply of a unary method: send("TableService/GetTable", {name: "people"}). Fields are those of its request, in camelCase. */
  send(name, fields = {}, timeoutMs = undefined) {
    return this.connection.call(name, fields, timeoutMs);
  }

  /**
   * A table by name; nothing is asked of the service. encrypt and decrypt are called with (partitionKey, rowKey, properties) of each
   * entity that is written or read, and return the properties to be stored or shown. Filters and indexes see what is stored.
   */
  table(name, hooks) {
    return new Table(this, name, hooks);
  }

  /**
   * Create a table; wideEntities: an entity may have 100,000 properties; blobProperties: properties may hold contents that are too large
   * for an entity (docs/large-entities.md). TableAlreadyExists, unless existOk.
   */
  async createTable(name, { changeFeed = false, wideEntities = false, blobProperties = false, existOk = false } = {}) {
    try {
      await this.send("TableService/CreateTable", { name, changeFeed, wideEntities, blobProperties });
    } catch (error) {
      if (!existOk || !(error instanceof TableAlreadyExists))
        throw error;
    }
    return this.table(name);
  }

  /** The messages tavola.v1.Table of all tables, those of indexes included; filter: over TableName. */
  tables(filter = "") {
    return this.#all("TableService/ListTables", "tables", { filter });
  }

  async *#all(name, member, fields = {}) {
    let pageToken = "";
    do {
      const reply = await this.send(name, { ...fields, pageToken });
      yield* reply[member];
      pageToken = reply.nextPageToken;
    } while (pageToken);
  }

  /** An index by name; nothing is asked of the service. */
  index(name, hooks) {
    return new Index(this, name, hooks);
  }

  /**
   * Declare an index and begin to build it; Index.wait() waits for it. TableNotFound; IndexAlreadyExists,
   * unless existOk: then the index of that name is taken as it is.
   * @param {Table|string} table
   * @param {any} partitionKey a property, or a list of properties and parts: {property, width, inverted, foldCase}, {literal}
   * @param {{rowKey?: any, shape?: "copy"|"list", place?: "other_partition"|"same_partition", consistency?: "eventual"|"strong",
   *   unique?: boolean, filter?: string, select?: string[], onViolation?: "skip"|"reject", existOk?: boolean, copies?: any}} [options] select: the properties that
   *   entries have; by default all; []: none; copies: a copy rule, {source, namedBy, properties, keep, versionTo} as in indexes.js,
   *   with partitionKey []
   */
  async createIndex(name, table, partitionKey, options) {
    const index = declaration(name, typeof table === "string" ? table : table.name, partitionKey, options);
    try {
      const reply = await this.send("IndexService/CreateIndex", { index });
      return new Index(this, name, { decrypt: table.decrypt, build: this.operationOf(reply.status.build) });
    } catch (error) {
      if (!options?.existOk || !(error instanceof IndexAlreadyExists))
        throw error;
      return new Index(this, name, { decrypt: table.decrypt });
    }
  }

  /**
   * Put a blob, which replaces one of that name; resolves to its description. ConditionNotMet; BlobAlreadyExists.
   * @param {Uint8Array|import("node:fs/promises").FileHandle|AsyncIterable<Uint8Array>} source bytes, and a file that is open for
   *   reading, are sent to the end whatever breaks, and put once; of anything else a break is thrown
   * @param {{contentType?: string, ifMatch?: string, ifAbsent?: boolean, sha256?: Uint8Array, uploadId?: string}} [options]
   *   ifMatch: the ETag of the content to replace, or "*"; ifAbsent: only a new name; sha256: of the content, anything else is refused;
   *   uploadId: of your choice, another process continues the upload by it, for a day (docs/blobs.md)
   */
  async putBlob(name, source, { contentType = "", ifMatch = "", ifAbsent = false, sha256 = new Uint8Array(), uploadId = "" } = {}) {
    return (await putBlob(this.connection, source, { name, contentType, ifMatch, ifAbsent, sha256, uploadId })).blob;
  }

  /**
   * Put a content that entities will hold by its `reference`; nobody sees it before. It is abandoned unless an entity holds it within 15
   * minutes, or, with an uploadId, within a day. Table.putWithContent writes entity and content in one call.
   * @param {{contentType?: string, sha256?: Uint8Array, uploadId?: string}} [options]
   */
  async putContent(source, { contentType = "", sha256 = new Uint8Array(), uploadId = "" } = {}) {
    return (await putBlob(this.connection, source, { contentType, sha256, uploadId })).blob;
  }

  /**
   * The content that a property of an entity holds; else as getBlob. Aborted, with the reason BLOB_CHANGED: no entity holds it any more,
   * read the entity again.
   */
  getContent(reference, { offset = 0, length = 0 } = {}) {
    return new BlobReader(this.connection, { reference, offset, length });
  }

  /**
   * The content of a blob, or `length` bytes (0: all) from `offset` on: await read(), or an async iterable of Buffers. The errors come
   * with the first part: BlobNotFound; OutOfRange; ConditionNotMet: it has not the ETag ifMatch.
   */
  getBlob(name, { offset = 0, length = 0, ifMatch = "" } = {}) {
    return new BlobReader(this.connection, { name, offset, length, ifMatch });
  }

  /** What a blob is: {name, size, contentType, sha256, etag, created, reference}. BlobNotFound. */
  async statBlob(name) {
    return decodeBlob((await this.send("BlobService/StatBlob", { name })).blob);
  }

  /** Delete a blob. BlobNotFound; ConditionNotMet. A call whose answer is lost is not repeated: Unavailable. */
  async deleteBlob(name, { ifMatch = "" } = {}) {
    await this.send("BlobService/DeleteBlob", { name, ifMatch });
  }

  /** The blobs whose names begin with the prefix, in the order of the bytes of their names. */
  async *blobs(prefix = "") {
    for await (const found of this.#all("BlobService/ListBlobs", "blobs", { prefix }))
      yield decodeBlob(found);
  }

  /** A new transaction, or, with the id of one that was submitted, what wait() and cancel() are called on. */
  transaction(id) {
    return new Transaction(this, id);
  }

  /** An operation by id. NotFound. */
  async operation(operationId) {
    return this.operationOf((await this.send("OperationService/GetOperation", { operationId })).operation);
  }

  /** The operation of a message tavola.v1.Operation. */
  operationOf(message) {
    return new Operation(this, message);
  }
}
