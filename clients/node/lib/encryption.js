// SPDX-License-Identifier: Apache-2.0
/**
 * Encryption by the client: properties that the service stores and cannot read. docs/client-encryption.md has the format.
 *
 * A value is encrypted with a content key by AES-256-GCM, the content key is wrapped with a key of a KeyRing or by a KeyCommand, and
 * the value is bound to its account, table, keys and property name, so that it cannot be moved. tests/vectors/encryption.json
 * holds all clients to one format.
 */
import { execFileSync } from "node:child_process";
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";

import { ConditionNotMet, EntityNotFound } from "./errors.js";
import { Double, Guid } from "./values.js";

const KEY_BYTES = 32, NONCE_BYTES = 12, TAG_BYTES = 16;
const FORMAT = 1; // the first byte of an encrypted value
const CONTENT_KEY_VALUES = 2 ** 20; // that one content key encrypts at most: far below 2^32, where random nonces begin to repeat
const CONTENT_KEY_MS = 300_000;
const REMEMBERED_KEYS = 1000; // content keys that are kept unwrapped
const TICKS_PER_MS = 10_000n;

/** A value cannot be opened: it was changed, or written for another account, table, entity or property, or its key is not there. */
export class DecryptionError extends Error {}

// ---- bytes ----

/** Each part behind its length: no two lists of parts give the same bytes. */
function joined(...parts) {
  return Buffer.concat(parts.flatMap((part) => {
    const bytes = Buffer.from(part), length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return [length, bytes];
  }));
}

function encryptBytes(key, nonce, plain, bound) {
  const cipher = createCipheriv("aes-256-gcm", key, nonce, { authTagLength: TAG_BYTES }).setAAD(bound);
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Throws an Error if the bytes were changed, or are bound to something else. */
function decryptBytes(key, sealed, bound) {
  const tagAt = sealed.length - TAG_BYTES;
  const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(bound).setAuthTag(sealed.subarray(tagAt));
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, tagAt)), decipher.final()]);
}

/** Bytes of a number of 64 bits, whole or a double. */
function numberBytes(method, value) {
  const bytes = Buffer.alloc(8);
  bytes[method](value);
  return bytes;
}

// ---- values as bytes ----

const KIND = { string: 1, boolean: 2, int32: 3, int64: 4, double: 5, datetime: 6, guid: 7, binary: 8 };

function int32Bytes(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function parts(value) {
  if (typeof value === "string")
    return [KIND.string, Buffer.from(value)];
  if (typeof value === "boolean")
    return [KIND.boolean, Buffer.from([value ? 1 : 0])];
  if (typeof value === "bigint")
    return [KIND.int64, numberBytes("writeBigInt64BE", value)];
  if (Number.isInteger(value) && Math.abs(value) < 2 ** 31 && !Object.is(value, -0))
    return [KIND.int32, int32Bytes(value)];
  if (typeof value === "number" || value instanceof Double)
    return [KIND.double, numberBytes("writeDoubleBE", Number(value))];
  if (value instanceof Date)
    return [KIND.datetime, numberBytes("writeBigInt64BE", BigInt(value.getTime()) * TICKS_PER_MS)];
  if (value instanceof Guid)
    return [KIND.guid, Buffer.from(value.value.replaceAll("-", ""), "hex")];
  if (value instanceof Uint8Array)
    return [KIND.binary, value];
  throw new TypeError(`a ${value?.constructor?.name ?? typeof value} cannot be stored: use string, boolean, number, bigint, Date, Guid, Double or Buffer`);
}

/** A byte for the type, and the value. TypeError: no type of the data model; RangeError: beyond 64 bits, an invalid Date. */
export function encodeValue(value) {
  const [kind, body] = parts(value);
  return Buffer.concat([Buffer.from([kind]), body]);
}

function guidOf(body) {
  return new Guid(body.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"));
}

/** A Double that is an integer stays one when it is written back. */
function doubleOf(number) {
  return Number.isInteger(number) ? new Double(number) : number;
}

/** The milliseconds of ticks, rounded down. */
function dateOf(ticks) {
  return new Date(Number((ticks - (ticks % TICKS_PER_MS + TICKS_PER_MS) % TICKS_PER_MS) / TICKS_PER_MS));
}

const DECODERS = {
  [KIND.string]: (body) => body.toString(),
  [KIND.boolean]: (body) => body[0] !== 0,
  [KIND.int32]: (body) => body.readInt32BE(),
  [KIND.int64]: (body) => body.readBigInt64BE(),
  [KIND.double]: (body) => doubleOf(body.readDoubleBE()),
  [KIND.datetime]: (body) => dateOf(body.readBigInt64BE()),
  [KIND.guid]: guidOf,
  [KIND.binary]: (body) => Buffer.from(body),
};

/** The value of encodeValue(). Times are cut off below a millisecond. */
export function decodeValue(bytes) {
  return DECODERS[bytes[0]](bytes.subarray(1));
}

// ---- keys that wrap content keys ----

/**
 * Keys by id. The first wraps new content keys; all of them unwrap. Any object with wrap(contentKey) -> [id, wrapped] and
 * unwrap(id, wrapped) -> contentKey serves as well; unwrap throws a RangeError for an id that it does not know.
 */
export class KeyRing {
  #keys;

  /** @param {Iterable<[string, Uint8Array]>} keys [id, 32 bytes]; an id has 1 to 64 characters of ASCII. TypeError. */
  constructor(keys) {
    this.#keys = new Map(keys);
    if (this.#keys.size === 0)
      throw new TypeError("a key ring needs a key");
    for (const [id, key] of this.#keys) {
      if (!/^[\x00-\x7f]{1,64}$/.test(id))
        throw new TypeError(`key id ${JSON.stringify(id)}: an id has 1 to 64 characters of ASCII`);
      if (key.length !== KEY_BYTES)
        throw new TypeError(`key ${id} has ${key.length} bytes, not ${KEY_BYTES}`);
    }
    [this.current] = this.#keys.keys();
  }

  /** A file with a line `ID BASE64` for each key, the current one first; empty lines and lines with # are left out. */
  static fromFile(path) {
    const keys = [];
    readFileSync(path, "ascii").split("\n").forEach((line, index) => {
      if (/^\s*(#|$)/.test(line))
        return;
      const [, id, text] = /^\s*(\S+)\s+([A-Za-z0-9+/]+=*)\s*$/.exec(line) ?? [];
      if (text === undefined)
        throw new TypeError(`${path}, line ${index + 1}: not a key id and 32 bytes in base64`);
      keys.push([id, Buffer.from(text, "base64")]);
    });
    return new KeyRing(keys);
  }

  /** [id, wrapped content key]. */
  wrap(contentKey) {
    const bound = joined("tavola.key.1", this.current);
    return [this.current, encryptBytes(this.#keys.get(this.current), randomBytes(NONCE_BYTES), contentKey, bound)];
  }

  /** The content key. RangeError: the id is not on the ring. Error: wrapped with another key. */
  unwrap(id, wrapped) {
    const key = this.#keys.get(id);
    if (!key)
      throw new RangeError(`key ${id} is not on the ring`);
    return decryptBytes(key, wrapped, joined("tavola.key.1", id));
  }
}

/**
 * Content keys are wrapped by a program, which asks a service for keys, or a device. `command wrap` reads 32 bytes in base64 from standard
 * input and prints `ID BASE64`; `command unwrap ID` reads what was printed as BASE64, and prints the 32 bytes in base64. It is
 * called once for each content key: about every five minutes, and once for each key that is read. The event loop waits for it.
 */
export class KeyCommand {
  #command; #arguments; #timeout;

  constructor(command, args = [], { timeoutMs = 10_000 } = {}) {
    this.#command = command;
    this.#arguments = args;
    this.#timeout = timeoutMs;
  }

  #run(args, bytes) {
    const options = { input: bytes.toString("base64"), timeout: this.#timeout, stdio: ["pipe", "pipe", "inherit"] };
    return String(execFileSync(this.#command, [...this.#arguments, ...args], options)).trim().split(/\s+/);
  }

  /** [id, wrapped content key]. */
  wrap(contentKey) {
    const [id, wrapped] = this.#run(["wrap"], contentKey);
    return [id, Buffer.from(wrapped, "base64")];
  }

  /** The content key. */
  unwrap(id, wrapped) {
    return Buffer.from(this.#run(["unwrap", id], wrapped)[0], "base64");
  }
}

// ---- content keys ----

/** The content key for new values, which is made anew after some values or minutes, and those that were unwrapped before. */
class ContentKeys {
  #ring; #current; #uses = 0; #end = 0; #unwrapped = new Map();

  constructor(ring) {
    this.#ring = ring;
  }

  /** {contentKey, id of the key that wraps it, wrapped}. */
  current() {
    if (this.#uses === 0 || performance.now() >= this.#end) {
      const contentKey = randomBytes(KEY_BYTES), [id, wrapped] = this.#ring.wrap(contentKey);
      this.#current = { contentKey, id, wrapped };
      this.#uses = CONTENT_KEY_VALUES;
      this.#end = performance.now() + CONTENT_KEY_MS;
    }
    this.#uses--;
    return this.#current;
  }

  unwrap(id, wrapped) {
    const name = `${id} ${wrapped.toString("base64")}`;
    const found = this.#unwrapped.get(name) ?? this.#ring.unwrap(id, wrapped);
    this.#unwrapped.delete(name);
    this.#unwrapped.set(name, found);
    if (this.#unwrapped.size > REMEMBERED_KEYS)
      this.#unwrapped.delete(this.#unwrapped.keys().next().value);
    return found;
  }
}

// ---- encrypted values ----

function envelope(id, wrapped, sealed) {
  const length = Buffer.alloc(2);
  length.writeUInt16BE(wrapped.length);
  return Buffer.concat([Buffer.from([FORMAT, id.length]), Buffer.from(id, "ascii"), length, wrapped, sealed]);
}

/** {id, wrapped, sealed}; null if the bytes are not an encrypted value. */
function opened(data) {
  if (!(data instanceof Uint8Array) || data.length < 2 || data[0] !== FORMAT || data.length < 4 + data[1])
    return null;
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.length);
  const idEnd = 2 + bytes[1], wrappedEnd = idEnd + 2 + bytes.readUInt16BE(idEnd);
  if (bytes.length < wrappedEnd + NONCE_BYTES + TAG_BYTES)
    return null;
  return { id: bytes.toString("ascii", 2, idEnd), wrapped: bytes.subarray(idEnd + 2, wrappedEnd), sealed: bytes.subarray(wrappedEnd) };
}

const lowerKeys = (tables, of) => new Map(Object.entries(tables).map(([table, names]) => [table.toLowerCase(), of(names)]));

/**
 * Which properties are encrypted, and how.
 *
 * keys        a KeyRing, a KeyCommand, or an object with their methods wrap and unwrap
 * account     the account's name: values are bound to it
 * properties  {table: names of properties}
 * blind       {table: {property: name of another property}}: the other one gets a keyed digest of the first, so that equal values can be
 *             found and indexed. It tells the service which entities have equal values, and nothing else.
 * blindKey    32 bytes for these digests. It cannot be rotated without writing them anew.
 * allowPlain  a property that was stored before it was declared is read as it is; otherwise DecryptionError
 */
export class Encryption {
  #contentKeys; #account; #properties; #blind; #blindKey; #allowPlain;

  constructor(keys, account, properties, { blind = {}, blindKey = Buffer.alloc(0), allowPlain = false } = {}) {
    this.#contentKeys = new ContentKeys(keys);
    this.#account = account;
    this.#properties = lowerKeys(properties, (names) => new Set(names));
    this.#blind = lowerKeys(blind, (names) => Object.entries(names));
    this.#blindKey = blindKey;
    this.#allowPlain = allowPlain;
    if (this.#blind.size > 0 && blindKey.length !== KEY_BYTES)
      throw new TypeError(`blindKey has ${blindKey.length} bytes, not ${KEY_BYTES}`);
  }

  /** The table with its declared properties encrypted: reads, writes, batches, imports, watches, look-ups, transactions. */
  table(client, name) {
    return client.table(name, {
      encrypt: (...entity) => this.encrypt(name, ...entity),
      decrypt: (...entity) => this.decrypt(name, ...entity),
    });
  }

  /** What a value is bound to. The service takes names of tables in any case. */
  #bound(use, table, ...rest) {
    return joined(use, this.#account, table.toLowerCase(), ...rest);
  }

  /** where: table, partition key, row key and name of the property. */
  #seal(bytes, ...where) {
    const { contentKey, id, wrapped } = this.#contentKeys.current();
    return envelope(id, wrapped, encryptBytes(contentKey, randomBytes(NONCE_BYTES), bytes, this.#bound("tavola.value.1", ...where)));
  }

  #open(data, table, partitionKey, rowKey, name) {
    const where = `table ${table}, entity ${JSON.stringify([partitionKey, rowKey])}, property ${name}`, found = opened(data);
    if (!found)
      throw new DecryptionError(`${where}: not an encrypted value`);
    try {
      const contentKey = this.#contentKeys.unwrap(found.id, found.wrapped);
      return decryptBytes(contentKey, found.sealed, this.#bound("tavola.value.1", table, partitionKey, rowKey, name));
    } catch (cause) {
      const why = cause instanceof RangeError ? `encrypted with key ${found.id}, which is not there`
        : "changed, or written for another account, table, entity or property";
      throw new DecryptionError(`${where}: ${why}`, { cause });
    }
  }

  #digest(table, name, bytes) {
    const alike = bytes[0] === KIND.int32 ? encodeValue(BigInt(decodeValue(bytes))) : bytes;
    return createHmac("sha256", this.#blindKey).update(this.#bound("tavola.blind.1", table, name, alike)).digest("hex").slice(0, 32);
  }

  /** One value as it is stored. */
  seal(value, table, partitionKey, rowKey, name) {
    return this.#seal(encodeValue(value), table, partitionKey, rowKey, name);
  }

  /** The value of what is stored. DecryptionError. */
  open(data, table, partitionKey, rowKey, name) {
    return decodeValue(this.#open(data, table, partitionKey, rowKey, name));
  }

  /** The digest by which an entity with this value is found: 32 hexadecimal digits. Int32 and Int64 of one number are alike. */
  blind(table, name, value) {
    return this.#digest(table, name, encodeValue(value));
  }

  /** The names of the declared properties that an entity has. */
  #declared(table, properties) {
    const names = this.#properties.get(table.toLowerCase()) ?? new Set();
    return Object.keys(properties).filter((name) => names.has(name) && properties[name] !== null && properties[name] !== undefined);
  }

  /** The properties of an entity as they are stored. */
  encrypt(table, partitionKey, rowKey, properties) {
    const out = { ...properties };
    for (const [name, digest] of this.#blind.get(table.toLowerCase()) ?? [])
      if (properties[name] !== null && properties[name] !== undefined)
        out[digest] = this.blind(table, name, properties[name]);
    for (const name of this.#declared(table, properties))
      out[name] = this.seal(properties[name], table, partitionKey, rowKey, name);
    return out;
  }

  /** The properties of an entity as a program sees them, without the digests. DecryptionError. */
  decrypt(table, partitionKey, rowKey, properties) {
    const digests = new Set((this.#blind.get(table.toLowerCase()) ?? []).map(([, digest]) => digest));
    const out = Object.fromEntries(Object.entries(properties).filter(([name]) => !digests.has(name)));
    for (const name of this.#declared(table, out))
      if (!this.#allowPlain || opened(out[name]))
        out[name] = this.open(out[name], table, partitionKey, rowKey, name);
    return out;
  }

  // ---- rotation ----

  /** Whether a declared property is plain, or encrypted with another key than the current one. */
  #isOld(table, entity) {
    const { id } = this.#contentKeys.current();
    return this.#declared(table, entity).some((name) => opened(entity[name])?.id !== id);
  }

  /** Values are encrypted anew as bytes, so that nothing of them is lost; 1, or 0 if somebody else has written the entity. */
  async #rewrite(stored, entity) {
    const { name: table } = stored, { PartitionKey, RowKey, $etag } = entity;
    const plain = new Map(this.#declared(table, entity).map((name) => [name, this.#allowPlain && !opened(entity[name])
      ? encodeValue(entity[name]) : this.#open(entity[name], table, PartitionKey, RowKey, name)]));
    for (const [name, bytes] of plain)
      entity[name] = this.#seal(bytes, table, PartitionKey, RowKey, name);
    for (const [name, digest] of this.#blind.get(table.toLowerCase()) ?? [])
      if (plain.has(name))
        entity[digest] = this.#digest(table, name, plain.get(name));
    try {
      await stored.replace(entity, { ifMatch: $etag });
    } catch (error) {
      if (error instanceof ConditionNotMet || error instanceof EntityNotFound)
        return 0; // written since, with the current key, or deleted
      throw error;
    }
    return 1;
  }

  /**
   * Write anew what is not encrypted with the current key. Yields {rewritten, token} after each page: store the token, and
   * rotate(client, name, token) goes on behind it. Before the first page every writer has to have the new key. Needs
   * allowPlain where a property was declared after entities had been written.
   */
  async *rotate(client, name, token = "") {
    const stored = client.table(name);
    for await (const page of stored.query("", { token }).pages()) {
      let rewritten = 0;
      for (const entity of page.entities)
        if (this.#isOld(name, entity))
          rewritten += await this.#rewrite(stored, entity);
      yield { rewritten, token: page.token };
    }
  }
}
