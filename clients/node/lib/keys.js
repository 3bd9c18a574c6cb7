// SPDX-License-Identifier: Apache-2.0
/**
 * Keys for the patterns of docs/patterns: compound keys, log tails, data series, and partitions that share the load of one.
 * Every function is pure, and the Python package makes the same keys: tests/vectors/keys.json.
 */
import { createHash, randomBytes } from "node:crypto";

import { literal } from "./values.js";

const LAST_TICK = 3155378975999999999n; // 9999-12-31T23:59:59.9999999Z, in units of 100 ns since 0001-01-01
const TICK_OF_1970 = 621355968000000000n;
const TICKS_PER_MS = 10000n;

/**
 * One key of several parts: `000123_2026`. A `_` or `~` inside a part is escaped, so that no two lists of parts share a key. Keys
 * with the same first parts are ordered by the next part. Numbers have to be padded() for that.
 */
export function compound(...parts) {
  return parts.map((part) => part.replaceAll("~", "~0").replaceAll("_", "~1")).join("_");
}

/** The parts of a compound key. */
export function partsOf(key) {
  return key.split("_").map((part) => part.replaceAll("~1", "_").replaceAll("~0", "~"));
}

/** A number as digits of one width, so that texts have the order of numbers. RangeError: negative, no whole number, or wider. */
export function padded(number, width = 10) {
  const text = String(number).padStart(width, "0");
  if (!/^\d+$/.test(text) || text.length > width)
    throw new RangeError(`${number} is not a whole number from 0 that ${width} digits can hold`);
  return text;
}

/** The smallest text that is larger than every text that begins with prefix. RangeError: there is none. */
function successor(prefix) {
  const characters = [...prefix];
  while (characters.at(-1) === "\u{10ffff}")
    characters.pop();
  if (characters.length === 0)
    throw new RangeError("every text begins with the empty prefix: leave the condition out");
  const last = characters.pop().codePointAt(0) + 1;
  return characters.join("") + String.fromCodePoint(last === 0xd800 ? 0xe000 : last); // 0xd800 to 0xdfff are no characters
}

/**
 * A filter for the keys that begin with prefix: startsWith(compound("000123", "")) for all with this first part. The service
 * reads these rows alone.
 */
export function startsWith(prefix, key = "RowKey") {
  return `${key} ge ${literal(prefix)} and ${key} lt ${literal(successor(prefix))}`;
}

/**
 * A row key that puts the newest entity first: 19 digits that count down, `_`, and what makes it unique.
 * @param {Date} [when] now, if it is not given
 * @param {string} [unique] what distinguishes entities of one millisecond; 12 random digits if it is not given. The order is that
 *   of the writers' clocks.
 */
export function logTail(when = new Date(), unique = randomBytes(6).toString("hex")) {
  const ticks = TICK_OF_1970 + BigInt(when.getTime()) * TICKS_PER_MS;
  return `${String(LAST_TICK - ticks).padStart(19, "0")}_${unique}`;
}

/** The time in a row key of logTail(). */
export function logTailTime(rowKey) {
  return new Date(Number((LAST_TICK - BigInt(rowKey.slice(0, 19)) - TICK_OF_1970) / TICKS_PER_MS));
}

/** The row key of a data series with an entity for each day, in UTC: `2026-11-23`. */
export function dayOf(when) {
  return when.toISOString().slice(0, 10);
}

/** The property of an hour in that entity, in UTC: `H07`. */
export function hourOf(when) {
  return `H${String(when.getUTCHours()).padStart(2, "0")}`;
}

const PERIODS = { hour: 13, day: 10, month: 7, year: 4 }; // how much of 2026-11-23T05 a unit takes

/**
 * The table of a period, of a table that keeps tables of periods, in UTC: `logins202611`. RangeError: unit is not one of hour, day, month and
 * year. Take it anew for each write: a program that keeps the name writes into the past, and is refused once that is dropped.
 */
export function periodTable(name, when = new Date(), unit = "month") {
  if (!Object.hasOwn(PERIODS, unit)) throw new RangeError(`unit is ${unit}, not one of ${Object.keys(PERIODS).join(", ")}`);
  return name + when.toISOString().slice(0, PERIODS[unit]).replace(/[-T]/g, "");
}

/** All partitions that spread() may give. RangeError: partitions is not from 1 to 100. */
export function spreadOver(partitionKey, partitions = 16) {
  if (!(Number.isInteger(partitions) && partitions >= 1 && partitions <= 100))
    throw new RangeError(`partitions is ${partitions}, not a number from 1 to 100`);
  return Array.from({ length: partitions }, (_, number) => `${String(number).padStart(2, "0")}_${partitionKey}`);
}

/** One of the partitions that share the load of one: `07_visits`. The same row key always gives the same partition. */
export function spread(partitionKey, rowKey, partitions = 16) {
  return spreadOver(partitionKey, partitions)[createHash("sha256").update(rowKey).digest().readUInt32BE(0) % partitions];
}

/** The order of the service: that of the characters' numbers. Text below U+D800 has it already. */
function compareKeys(left, right) {
  return Buffer.compare(Buffer.from(left), Buffer.from(right));
}

/** The entities of several queries, one for each partition of spreadOver(), as one sequence in the order of the row keys. */
export async function* merged(queries) {
  const iterators = Array.from(queries, (query) => query[Symbol.asyncIterator]());
  try {
    const heads = await Promise.all(iterators.map(async (iterator) => ({ iterator, next: await iterator.next() })));
    for (;;) {
      const left = heads.filter((head) => !head.next.done);
      if (left.length === 0)
        return;
      const first = left.reduce((best, head) => compareKeys(head.next.value.RowKey, best.next.value.RowKey) < 0 ? head : best);
      yield first.next.value;
      first.next = await first.iterator.next();
    }
  } finally {
    await Promise.all(iterators.map((iterator) => iterator.return?.()));
  }
}
