// SPDX-License-Identifier: Apache-2.0
/** Indexes: their declaration, their state, and look-ups. */
import { decodeEntity } from "./entity.js";
import { Pages, decodeStats } from "./table.js";
import { encodeValue } from "./values.js";

const constant = (prefix, word) => prefix + (word ?? "unspecified").toUpperCase();
const partsOf = (given = []) => [given].flat().map((one) => (typeof one === "string" ? { property: one } : one));

/**
 * The message tavola.v1.CopyRule of the option `copies`.
 * @param {{source: any, namedBy: any[], properties: Record<string, string>, keep?: boolean, versionTo?: string}} copies source: the table
 *   whose properties are copied; namedBy: where an entity has the partition key and the row key of its source, a property
 *   or {literal}; properties: of the entity's property to the source's; keep: the copies of a source that does not exist
 *   stay; versionTo: a property for the ETag of the source
 */
function copyRule({ source, namedBy, properties, keep = false, versionTo = "" }) {
  const [sourcePartitionKey, sourceRowKey, ...more] = partsOf(namedBy);
  if (!sourceRowKey || more.length)
    throw new TypeError("namedBy has to give the partition key and the row key of the source");
  return { sourceTable: source.name ?? source, sourcePartitionKey, sourceRowKey, properties, keep, versionProperty: versionTo };
}

/** The message tavola.v1.Index of a declaration; see Client.createIndex. */
export function declaration(name, table, partitionKey, options = {}) {
  const { rowKey, shape = "copy", place, consistency, unique = false, filter = "", select, onViolation, copies } = options;
  return {
    name, table, unique, filter,
    partitionKey: partsOf(partitionKey),
    rowKey: partsOf(rowKey),
    shape: constant("INDEX_SHAPE_", shape),
    place: constant("INDEX_PLACE_", place),
    consistency: constant("INDEX_CONSISTENCY_", consistency),
    onViolation: constant("ON_VIOLATION_", onViolation),
    copies: copies && copyRule(copies),
    projection: select && (select.length ? { some: { names: select } } : { keysOnly: true }),
  };
}

function freshness({ atLeast = [], maxStalenessMs, latest = false }) {
  const tokens = [atLeast].flat().map((one) => (typeof one === "string" ? one : one.consistencyToken)).filter(Boolean);
  const maxStaleness = maxStalenessMs === undefined ? null
    : { seconds: String(Math.floor(maxStalenessMs / 1000)), nanos: Math.round((maxStalenessMs % 1000) * 1e6) };
  return { atLeast: tokens, maxStaleness, latest };
}

const optional = (value) => (value === undefined ? null : encodeValue(value));

/** An index by name; nothing is asked of the service until a method is called. */
export class Index {
  constructor(client, name, { decrypt, build } = {}) {
    Object.assign(this, { client, name, decrypt, build });
  }

  /** Wait until the index has been built. OperationFailed; DeadlineExceeded after timeoutMs. */
  async wait(timeoutMs) {
    const build = this.build ?? await this.client.operation((await this.info()).status.build.operationId);
    await build.wait(timeoutMs);
    return this;
  }

  /** Declaration and status, a message tavola.v1.GetIndexResponse. */
  info() {
    return this.client.send("IndexService/GetIndex", { name: this.name });
  }

  /** BUILDING, VALIDATING, READY or DROPPING. */
  async state() {
    return (await this.info()).status.state.slice("INDEX_STATE_".length);
  }

  /** Drop the index; returns the Operation that purges its entries. */
  async drop() {
    return this.client.operationOf((await this.client.send("IndexService/DropIndex", { name: this.name })).operation);
  }

  /**
   * The entities that have the given values of the index's properties, the partition key's first.
   * @param {any[]|any} equals a value, or a list of them
   * @param {{from?: any, below?: any, atLeast?: any[], maxStalenessMs?: number, latest?: boolean, trustIndex?: boolean,
   *   readSources?: boolean, select?: string[], descending?: boolean, pageSize?: number, token?: string, timeoutMs?: number}} [options] from and below:
   *   a range of the next property; atLeast: results or tokens of writes that must be seen (NotFreshEnough after timeoutMs); latest: right as of now;
   *   trustIndex: entries as they are; readSources: every entity is read, also where its entry is known to be the same;
   *   select: the properties wanted, none: all
   */
  lookup(equals = [], options = {}) {
    const isRange = options.from !== undefined || options.below !== undefined;
    const request = {
      index: this.name,
      equals: [equals].flat().map(encodeValue),
      range: isRange ? { atLeast: optional(options.from), below: optional(options.below) } : null,
      freshness: freshness(options),
      trustIndex: options.trustIndex ?? false,
      readSources: options.readSources ?? false,
      descending: options.descending ?? false,
      select: options.select ?? [],
    };
    return new Pages(async (pageSize, pageToken) => {
      const reply = await this.client.send("IndexService/LookupIndex", { ...request, pageSize, pageToken }, options.timeoutMs);
      return { entities: reply.entities.map((one) => decodeEntity(one, this.decrypt)), token: reply.nextPageToken, stats: decodeStats(reply.stats) };
    }, options);
  }
}
