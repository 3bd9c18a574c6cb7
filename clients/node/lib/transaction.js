// SPDX-License-Identifier: Apache-2.0
/** Transactions across partitions and tables, and operations: work that goes on after its call was answered. */
import { randomBytes } from "node:crypto";
import { encodeEntity } from "./entity.js";
import { DeadlineExceeded, OperationFailed, TransactionFailed, errorOfMessage } from "./errors.js";

const WAIT_MS = 20_000; // of one call that waits

/** Ask again and again until `isFinal()`; each call waits for the end itself. */
async function waitFor(what, ask, isFinal, timeoutMs = Infinity) {
  const deadline = Date.now() + timeoutMs;
  do {
    const left = Math.min(deadline - Date.now(), WAIT_MS);
    if (left <= 0)
      throw new DeadlineExceeded(`${what} has not ended in time; it goes on`);
    await ask(left);
  } while (!isFinal());
}

/** A UUIDv7, by which the service can tell an id that is older than what it remembers. */
export function newId() {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = bytes[6] & 0x0f | 0x70;
  bytes[8] = bytes[8] & 0x3f | 0x80;
  return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/**
 * Steps that the service carries out one after the other, each exactly once, to their end. A table is a Table or a name. ifMatch and
 * condition are of the entity before the step: if they do not hold, the transaction ends as FAILED.
 */
export class Transaction {
  #steps = [];

  constructor(client, id = newId()) {
    Object.assign(this, { client, id, message: null, consistencyToken: "" });
  }

  #table(table) {
    return typeof table === "string" ? this.client.table(table) : table;
  }

  #address(table, [partitionKey, rowKey]) {
    return { table: this.#table(table).name, key: { partitionKey, rowKey } };
  }

  #add(action, { ifMatch = "", condition = "" } = {}) {
    this.#steps.push({ ...action, precondition: ifMatch || condition ? { ifMatch, condition } : null });
    return this;
  }

  /** Insert, or replace (merge: merge into) what is there. */
  upsert(table, entity, { merge = false, ...conditions } = {}) {
    const put = { table: this.#table(table).name, entity: encodeEntity(entity, this.#table(table).encrypt) };
    return this.#add({ [merge ? "insertOrMerge" : "insertOrReplace"]: put }, conditions);
  }

  /** Delete, if it is there. */
  delete(table, partitionKey, rowKey, conditions) {
    return this.#add({ deleteIfExists: this.#address(table, [partitionKey, rowKey]) }, conditions);
  }

  /** Move an entity, as it is stored, to another table, to another key, or both. */
  move(table, key, toTable = table, toKey = key, conditions = {}) {
    return this.#add({ move: { source: this.#address(table, key), destination: this.#address(toTable, toKey) } }, conditions);
  }

  #content({ data, table, key, deleteEntity = false }) {
    return { deleteEntity, ...table ? { entity: this.#address(table, key) } : { data: Buffer.from(data ?? "") } };
  }

  /** Make a file in the account's folder of the service, of data or of an entity (table and key), which it may delete. */
  writeFile(path, { ifMatch, condition, ...content } = {}) {
    return this.#add({ writeFile: { path, ...this.#content(content) } }, { ifMatch, condition });
  }

  /** Append to a file in the account's folder: data, or an entity as a line of JSON. */
  appendFile(path, { ifMatch, condition, ...content } = {}) {
    return this.#add({ appendFile: { path, ...this.#content(content) } }, { ifMatch, condition });
  }

  /**
   * Put a blob of data, or of an entity (table and key), which it may delete. ifMatch and condition are about the entity, blobIfMatch and
   * blobIfAbsent about the blob.
   */
  putBlob(name, { contentType = "", blobIfMatch = "", blobIfAbsent = false, ifMatch, condition, ...content } = {}) {
    const put = { name, contentType, ifMatch: blobIfMatch, ifAbsent: blobIfAbsent, ...this.#content(content) };
    return this.#add({ putBlob: put }, { ifMatch, condition });
  }

  /** Delete a blob, if there is one. */
  deleteBlob(name, { blobIfMatch = "" } = {}) {
    return this.#add({ deleteBlob: { name, ifMatch: blobIfMatch } });
  }

  /** Send data or an entity to a host that the operator allows, at least once; each time with the same Idempotency-Key. */
  httpCall(url, { method = "POST", contentType = "", ifMatch, condition, ...content } = {}) {
    return this.#add({ httpCall: { url, method, contentType, ...this.#content(content) } }, { ifMatch, condition });
  }

  #take({ transaction }) {
    this.message = transaction;
    this.id = transaction.transactionId; // a shared access signature gets one with a mark of its own
    this.consistencyToken = transaction.consistencyToken || this.consistencyToken;
    return this;
  }

  /** PENDING, RUNNING, DONE, FAILED, CANCELLED or DEAD, as last seen; empty before it was submitted. */
  get state() {
    return this.message?.state.slice("TRANSACTION_STATE_".length) ?? "";
  }

  /** Submit; durable when this is resolved. A repeat under the same id is the same transaction. */
  async submit() {
    return this.#take(await this.client.send("TransactionService/SubmitTransaction", { transactionId: this.id, steps: this.#steps }));
  }

  /** Ask for the state. */
  async refresh() {
    return this.#take(await this.client.send("TransactionService/GetTransaction", { transactionId: this.id }));
  }

  /** Cancel a transaction of which no step has run. */
  async cancel() {
    return this.#take(await this.client.send("TransactionService/CancelTransaction", { transactionId: this.id }));
  }

  /** Wait for the end. TransactionFailed unless it is DONE; DeadlineExceeded after timeoutMs. */
  async wait(timeoutMs) {
    const ask = async (left) => this.#take(await this.client.send("TransactionService/WaitTransaction", { transactionId: this.id }, left));
    await waitFor(`transaction ${this.id}`, ask, () => !["PENDING", "RUNNING"].includes(this.state), timeoutMs);
    if (this.state === "DONE")
      return this;
    const cause = this.message.timeline.filter((one) => one.error?.code).map((one) => errorOfMessage(one.error)).at(-1);
    const failed = new TransactionFailed(`transaction ${this.id} is ${this.state}: ${cause?.message ?? "no step has run"}`,
      { reason: cause?.reason, metadata: cause?.metadata });
    throw Object.assign(failed, { transaction: this });
  }

  /** Submit, and wait for the end. */
  async run(timeoutMs) {
    return (await this.submit()).wait(timeoutMs);
  }
}

/** A build, a purge, a range deletion, a verification; `message` is its tavola.v1.Operation. */
export class Operation {
  constructor(client, message) {
    Object.assign(this, { client, message });
  }

  get id() {
    return this.message.operationId;
  }

  /** RUNNING, PAUSED, DONE, FAILED or CANCELLED, as last seen. */
  get state() {
    return this.message.state.slice("OPERATION_STATE_".length);
  }

  /** The rows that are done, as last seen. */
  get done() {
    return Number(this.message.done);
  }

  /** Wait for the end. OperationFailed unless it is DONE; DeadlineExceeded after timeoutMs. */
  async wait(timeoutMs) {
    const ask = async (left) => {
      this.message = (await this.client.send("OperationService/WaitOperation", { operationId: this.id }, left)).operation;
    };
    await waitFor(`operation ${this.id}`, ask, () => !["RUNNING", "PAUSED"].includes(this.state), timeoutMs);
    if (this.state === "DONE")
      return this;
    const cause = this.message.error && errorOfMessage(this.message.error);
    throw Object.assign(new OperationFailed(`${this.id} is ${this.state}: ${cause?.message ?? ""}`, { reason: cause?.reason }), { operation: this });
  }

  /** pause, resume, cancel or throttle (to rowsPerSecond). */
  async control(change, rowsPerSecond = 0) {
    const fields = { operationId: this.id, control: `OPERATION_CONTROL_${change.toUpperCase()}`, rowsPerSecond };
    this.message = (await this.client.send("OperationService/ControlOperation", fields)).operation;
    return this;
  }
}
