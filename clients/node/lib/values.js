// SPDX-License-Identifier: Apache-2.0
/**
 * Property values: native values of JavaScript, and wrappers for what it has no type for.
 *
 *     JavaScript                      stored as    read as
 *     string                          String       string
 *     boolean                         Boolean      boolean
 *     number, integer of 32 bits      Int32        number
 *     any other number, Double        Double       number
 *     bigint                          Int64        bigint
 *     Date                            DateTime     Date
 *     Guid                            Guid         Guid
 *     Buffer, Uint8Array              Binary       Buffer
 *     null, undefined                 not stored   the property is not there
 *
 * An entity that was read remembers what its values were: written back, a Double that is an integer stays a Double, and a
 * time keeps what lies below a millisecond. A copy of the entity does not.
 */

/** A number that is stored as Double even if it is an integer. */
export class Double {
  constructor(value) {
    this.value = Number(value);
  }
  valueOf() {
    return this.value;
  }
}

/** A Guid: 8-4-4-4-12 hexadecimal digits. TypeError: the text is none. */
export class Guid {
  constructor(text) {
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text))
      throw new TypeError(`${JSON.stringify(text)} is not a Guid: 8-4-4-4-12 hexadecimal digits`);
    this.value = text.toLowerCase();
  }
  toString() {
    return this.value;
  }
  toJSON() {
    return this.value;
  }
}

/** The message google.protobuf.Timestamp of a Date. */
export function timestamp(date) {
  const milliseconds = date.getTime();
  if (Number.isNaN(milliseconds))
    throw new TypeError("an invalid Date cannot be stored");
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds: String(seconds), nanos: (milliseconds - seconds * 1000) * 1e6 };
}

/** The Date of a google.protobuf.Timestamp; null for none. Parts below a millisecond are cut off. */
export function dateOf(found) {
  return found ? new Date(Number(found.seconds) * 1000 + Math.floor(found.nanos / 1e6)) : null;
}

function isInt32(value) {
  return Number.isInteger(value) && Math.abs(value) < 2 ** 31 && !Object.is(value, -0);
}

/** The message tavola.v1.Value of a native value. TypeError: not a type of the table above; RangeError: beyond 64 bits. */
export function encodeValue(value) {
  if (value === null || value === undefined)
    return {};
  if (typeof value === "string")
    return { stringValue: value };
  if (typeof value === "boolean")
    return { booleanValue: value };
  if (typeof value === "number")
    return isInt32(value) ? { int32Value: value } : { doubleValue: value };
  if (typeof value === "bigint") {
    if (BigInt.asIntN(64, value) !== value)
      throw new RangeError(`${value} does not fit 64 bits`);
    return { int64Value: String(value) };
  }
  if (value instanceof Double)
    return { doubleValue: value.value };
  if (value instanceof Date)
    return { datetimeValue: timestamp(value) };
  if (value instanceof Guid)
    return { guidValue: value.value };
  if (value instanceof Uint8Array)
    return { binaryValue: value };
  throw new TypeError(`a ${value.constructor?.name ?? typeof value} cannot be stored: use string, boolean, number, bigint, Date, ` +
    "Guid, Double or Buffer");
}

/** The native value of a message tavola.v1.Value. */
export function decodeValue(found) {
  switch (found.kind) {
  case undefined: return null;
  case "int64Value": return BigInt(found.int64Value);
  case "datetimeValue": return dateOf(found.datetimeValue);
  case "guidValue": return new Guid(found.guidValue);
  default: return found[found.kind];
  }
}

function doubleLiteral(value) {
  if (Number.isNaN(value))
    return "NaN";
  if (!Number.isFinite(value))
    return value > 0 ? "INF" : "-INF";
  const text = String(value).replace("e+", "e");
  return /[.e]/.test(text) ? text : `${Object.is(value, -0) ? "-0" : text}.0`;
}

/** The value as a literal of filter text (docs/filters.md). */
export function literal(value) {
  const found = encodeValue(value);
  switch (Object.keys(found)[0]) {
  case "stringValue": return `'${value.replaceAll("'", "''")}'`;
  case "booleanValue": case "int32Value": return String(value);
  case "int64Value": return `${value}`;
  case "doubleValue": return doubleLiteral(Number(value));
  case "datetimeValue": return `datetime'${value.toISOString()}'`;
  case "guidValue": return `guid'${value}'`;
  case "binaryValue": return `X'${Buffer.from(value).toString("hex")}'`;
  default: throw new TypeError("a filter cannot have a null");
  }
}

/** Filter text with values in it: odata`Customer eq ${name} and Total ge ${100}`. Text is quoted. */
export function odata(texts, ...values) {
  return texts.reduce((text, part, at) => text + literal(values[at - 1]) + part);
}
