// SPDX-License-Identifier: Apache-2.0
/**
 * Entities: objects in the form that REST clients know, { PartitionKey, RowKey, and the properties }. What is read has beside them
 * `$etag`, `$timestamp` and `$expires`, which no property can be called; `$expires`, a Date, can be set.
 */
import { dateOf, decodeValue, encodeValue, timestamp } from "./values.js";

const READ = Symbol("what was read"); // name -> [native value, message]
const OWN = new Set(["PartitionKey", "RowKey", "$etag", "$timestamp", "$expires"]);

const isSame = (a, b) => (a instanceof Date && b instanceof Date ? a.getTime() === b.getTime() : Object.is(a, b));

function encodeProperty(name, value, read) {
  const [before, message] = read?.get(name) ?? [];
  if (message && isSame(value, before instanceof Date ? dateOf(message.datetimeValue) : before))
    return message;
  if (message?.kind === "doubleValue" && typeof value === "number")
    return { doubleValue: value };
  try {
    return encodeValue(value);
  } catch (error) {
    error.message = `property ${name}: ${error.message}`;
    throw error;
  }
}

/** The message of an entity. TypeError: keys are missing, or a property cannot be stored. */
export function encodeEntity(entity, encrypt) {
  const { PartitionKey: partitionKey, RowKey: rowKey } = entity;
  if (typeof partitionKey !== "string" || typeof rowKey !== "string")
    throw new TypeError("an entity needs PartitionKey and RowKey; both are strings, which may be empty");
  let properties = Object.fromEntries(Object.entries(entity).filter(([name]) => !OWN.has(name)));
  if (encrypt)
    properties = encrypt(partitionKey, rowKey, properties);
  const encoded = Object.entries(properties).map(([name, value]) => [name, encodeProperty(name, value, entity[READ])]);
  return { partitionKey, rowKey, properties: Object.fromEntries(encoded), expires: entity.$expires ? timestamp(entity.$expires) : null };
}

/** The entity of a message. */
export function decodeEntity(found, decrypt) {
  const names = Object.keys(found.properties).sort();
  let properties = Object.fromEntries(names.map((name) => [name, decodeValue(found.properties[name])]));
  const read = new Map(names.map((name) => [name, [properties[name], found.properties[name]]]));
  if (decrypt)
    properties = decrypt(found.partitionKey, found.rowKey, properties);
  const entity = { PartitionKey: found.partitionKey, RowKey: found.rowKey, ...properties,
    $etag: found.etag, $timestamp: dateOf(found.timestamp) };
  if (found.expires)
    entity.$expires = dateOf(found.expires);
  return decrypt ? entity : Object.defineProperty(entity, READ, { value: read });
}

/** What a write has brought: {etag, timestamp, consistencyToken, replayed}. */
export function decodeResult(found) {
  return { etag: found.etag, timestamp: dateOf(found.timestamp), consistencyToken: found.consistencyToken, replayed: found.replayed };
}

/** Give an entity that was read the version that was written. */
export function noteResult(entity, result) {
  if (entity?.$etag !== undefined)
    Object.assign(entity, { $etag: result.etag, $timestamp: result.timestamp });
}
