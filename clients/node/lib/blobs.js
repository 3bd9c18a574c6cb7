// SPDX-License-Identifier: Apache-2.0
/**
 * Blobs: contents that are put and read as streams. After a break an upload goes on behind what is stored, and a read behind what
 * was received.
 */
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { checkEnd, giveUp, resumed } from "./connection.js";
import { Internal, NotFound, OutcomeUnknown, errorOfCall } from "./errors.js";
import { dateOf } from "./values.js";

const MESSAGE_BYTES = 256 * 1024;
const MISMATCHES = 10; // of the stored bytes: a stream that has broken may still store some

/** The description of a blob: {name, size, contentType, sha256, etag, created, reference}. */
export function decodeBlob({ name, size, contentType, sha256, etag, created, reference }) {
  return { name, size: Number(size), contentType, sha256, etag, created: dateOf(created), reference };
}

function *slices(bytes) {
  for (let at = 0; at < bytes.length; at += MESSAGE_BYTES)
    yield bytes.subarray(at, at + MESSAGE_BYTES);
}

async function *partsOfFile(file, offset) {
  for (let position = offset; ; ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(MESSAGE_BYTES), 0, MESSAGE_BYTES, position);
    if (!bytesRead)
      return;
    yield buffer.subarray(0, bytesRead);
    position += bytesRead;
  }
}

async function *partsOfIterable(source) {
  for await (const part of source)
    yield *slices(Buffer.from(part));
}

/** A function that gives the bytes from an offset on; null: the source can be read once only. */
function readerOf(source) {
  if (source instanceof Uint8Array)
    return (offset) => slices(source.subarray(offset));
  return typeof source.read === "function" && typeof source.fd === "number" ? (offset) => partsOfFile(source, offset) : null;
}

/** A put, with all its streams. header: the fields of PutBlobHeader. */
class Upload {
  constructor(connection, source, header) {
    Object.assign(this, { connection, source, header, stored: 0, mayBeComplete: false });
  }

  async run() {
    const partsFrom = readerOf(this.source);
    if (!partsFrom)
      return this.#send(partsOfIterable(this.source)).catch((failed) => { throw errorOfCall(failed); });
    let asksFirst = Boolean(this.header.uploadId);
    this.header.uploadId ||= randomUUID();
    return resumed(this.connection, async () => {
      if (asksFirst)
        await this.#ask();
      asksFirst = true;
      return this.#goOn(partsFrom);
    }, () => this.stored);
  }

  async #goOn(partsFrom) {
    for (let tries = 1; ; tries++) {
      try {
        return await this.#send(partsFrom(this.stored));
      } catch (failed) {
        if (errorOfCall(failed).reason !== "UPLOAD_OFFSET_MISMATCH" || tries === MISMATCHES)
          throw failed;
      }
      await this.#ask();
    }
  }

  /** Ask for the bytes that the service has; a complete upload is answered at once, without bytes. */
  async #ask() {
    try {
      const found = await this.connection.call("BlobService/GetUpload", { uploadId: this.header.uploadId });
      this.stored = found.complete ? 0 : Number(found.stored);
    } catch (error) {
      if (!(error instanceof NotFound))
        throw error;
      if (this.mayBeComplete)
        throw new OutcomeUnknown("the blob was put, and was replaced or deleted since; or its upload was abandoned", { reason: "OUTCOME_UNKNOWN" });
      this.stored = 0;
    }
  }

  async #send(parts) {
    const stream = await this.connection.open("BlobService/PutBlob");
    const answer = this.#answerOf(stream);
    answer.catch(() => {}); // it is awaited below
    const write = async (message) => {
      if (!stream.failure && !stream.write(message))
        await Promise.race([once(stream, "drain"), answer]).catch(() => {});
      return !stream.failure && !stream.readableEnded;
    };
    try {
      let goesOn = await write({ header: { ...this.header, offset: this.stored } });
      for await (const content of parts)
        if (!goesOn || !(goesOn = await write({ content })))
          break;
      if (goesOn) {
        this.mayBeComplete = true;
        stream.write({ end: true });
      }
      stream.end();
      return await answer;
    } finally {
      await giveUp(stream, answer);
    }
  }

  async #answerOf(stream) {
    let reply;
    for await (const message of stream)
      reply = message;
    checkEnd(stream);
    if (!reply)
      throw new Internal("the service has ended the upload, and has not answered it");
    return reply;
  }
}

/** The reply to a put: {blob, result}. See Client.putBlob, and Table.putWithContent for the result. */
export async function putBlob(connection, source, header) {
  const { blob, result } = await new Upload(connection, source, header).run();
  return { blob: decodeBlob(blob), result };
}

/**
 * The bytes of a blob, or of a range of it: an async iterable of Buffers that can be run through once; blob is the description of
 * the whole blob, known from the first part on. The last part comes before the service, and this reader, have compared the whole
 * with its SHA-256: use the parts when the iteration has ended.
 */
export class BlobReader {
  constructor(connection, request) {
    Object.assign(this, { connection, request: { ...request }, range: request, blob: null, received: 0 });
  }

  /** All bytes, compared. */
  async read() {
    const parts = [];
    for await (const part of this)
      parts.push(part);
    return Buffer.concat(parts);
  }

  async *[Symbol.asyncIterator]() {
    const whole = createHash("sha256");
    try {
      for (let message; (message = await this.#next()); ) {
        if (!message.content.length)
          continue;
        this.received += message.content.length;
        whole.update(message.content);
        yield message.content;
      }
    } finally {
      this.stream?.cancel();
    }
    if (this.received === this.blob.size && !whole.digest().equals(this.blob.sha256))
      throw new Internal("the bytes that arrived do not have the SHA-256 of the blob", { reason: "BLOB_DAMAGED" });
  }

  /** The next message, if need be of another stream; null: this was the end. */
  #next() {
    return resumed(this.connection, async () => {
      try {
        this.messages ??= await this.#open();
        const { value, done } = await this.messages.next();
        return done ? null : value;
      } catch (failed) {
        this.messages = null;
        throw failed;
      }
    }, () => this.received);
  }

  /** The messages behind the bytes that were received, of the same content. */
  async #open() {
    const { offset, length } = this.range;
    if (this.blob && length && length === this.received)
      return (async function *nothing() {})();
    Object.assign(this.request, { offset: offset + this.received, length: length && length - this.received });
    this.stream = await this.connection.open("BlobService/GetBlob", this.request);
    return this.#messages(this.stream);
  }

  async *#messages(stream) {
    for await (const message of stream) {
      if (message.blob) {
        this.blob = decodeBlob(message.blob);
        if (!this.request.reference) // that is of one content for ever
          this.request.ifMatch = this.blob.etag;
      }
      yield message;
    }
    checkEnd(stream);
  }
}
