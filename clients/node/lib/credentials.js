// SPDX-License-Identifier: Apache-2.0
/** Tokens and shared access signatures, made without a server (docs/signatures.md). A key never leaves the process. */
import { createHmac } from "node:crypto";
import { isIPv4, isIPv6 } from "node:net";

const PERMISSIONS = "raudit";
const HASH_BYTES = 32;
const START = 1, EXPIRY = 2, PERMITTED = 4, POLICY = 8, SOURCE = 16, LOW = 32, HIGH = 64, HIGH_ROW = 128, TLS = 256;

const ticks = (date) => BigInt(date.getTime()) * 10_000n + 116444736000000000n;
const milliseconds = (time) => Number((time - 116444736000000000n) / 10_000n);

function varint(number) {
  const bytes = [];
  for (number = BigInt(number); number > 0x7fn; number >>= 7n)
    bytes.push(Number(number & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(number)]);
}

function text(content) {
  const bytes = Buffer.from(content);
  return Buffer.concat([varint(bytes.length), bytes]);
}

function named(content, pattern, what) {
  if (!pattern.test(content))
    throw new TypeError(`${JSON.stringify(content)} is not ${what}`);
  return content;
}

const account = (name) => text(named(name, /^[a-z0-9]{3,63}$/, "the name of an account: 3 to 63 lower-case letters and digits"));
// eslint-disable-next-line no-control-regex
const key = (content) => text(named(content, /^[^/\\#?\u0000-\u001f\u007f-\u009f]{0,512}$/, "a key"));

/** Sixteen bytes; an IPv4 address is mapped. */
function address(content) {
  if (isIPv4(content))
    return Buffer.from([...Buffer.alloc(10), 255, 255, ...content.split(".").map(Number)]);
  if (!isIPv6(content))
    throw new TypeError(`${JSON.stringify(content)} is not an address`);
  const [head, tail] = content.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    `${(a << 8 | b).toString(16)}:${(c << 8 | d).toString(16)}`).split("::");
  const groups = (part) => (part ? part.split(":") : []);
  const zeros = tail === undefined ? [] : Array(8 - groups(head).length - groups(tail).length).fill("0");
  return Buffer.from([...groups(head), ...zeros, ...groups(tail)].map((group) => group.padStart(4, "0")).join(""), "hex");
}

function source(content) {
  const [low, high = low] = content.split("-");
  const ends = [address(low), address(high)];
  if (isIPv4(low) !== isIPv4(high) || Buffer.compare(...ends) > 0)
    throw new TypeError(`source ${content}: two addresses of one kind, the lower one first`);
  return Buffer.concat(ends);
}

function permissions(letters) {
  const places = [...letters].map((letter) => PERMISSIONS.indexOf(letter));
  if (places.some((place, at) => place < 0 || (at > 0 && place <= places[at - 1])))
    throw new TypeError(`permissions ${letters}: letters out of ${PERMISSIONS}, in this order, each once`);
  return places.reduce((bits, place) => bits | 1 << place, 0);
}

function check(fields) {
  named(fields.table, /^[A-Za-z][A-Za-z0-9]{2,62}$/, "the name of a table: 3 to 63 letters and digits, a letter first");
  named(fields.protocol ?? "any", /^(any|tls)$/, "a protocol: any, tls");
  named(fields.policy ?? "", /^[ -~]{0,64}$/, "the id of a policy: 1 to 64 printable ASCII characters");
  if (!fields.policy && !(fields.expiry && fields.permissions))
    throw new TypeError("without a stored policy, expiry and permissions must be given");
  if ((fields.startRow && fields.startPartition === undefined) || (fields.endRow !== undefined && fields.endPartition === undefined))
    throw new TypeError("a row key of a range needs its partition key");
  if (fields.start && fields.expiry && fields.expiry <= fields.start)
    throw new TypeError("the start lies after the expiry");
}

function signatureFields(name, fields, issued) {
  check(fields);
  const parts = [
    [START, fields.start && varint(ticks(fields.start))],
    [EXPIRY, fields.expiry && varint(ticks(fields.expiry))],
    [PERMITTED, fields.permissions && varint(permissions(fields.permissions))],
    [POLICY, fields.policy && text(fields.policy)],
    [SOURCE, fields.source && source(fields.source)],
    [LOW, fields.startPartition !== undefined && Buffer.concat([key(fields.startPartition), key(fields.startRow ?? "")])],
    [HIGH, fields.endPartition !== undefined && key(fields.endPartition)],
    [HIGH_ROW, fields.endRow !== undefined && key(fields.endRow)],
  ].filter(([, part]) => part);
  const flags = parts.reduce((sum, [flag]) => sum | flag, fields.protocol === "tls" ? TLS : 0);
  return Buffer.concat([account(name), text(fields.table.toLowerCase()), varint(ticks(issued)), varint(flags), ...parts.map(([, part]) => part)]);
}

function signed(prefix, fields, secret) {
  const mark = createHmac("sha256", secret).update(prefix).update(fields).digest();
  return prefix + Buffer.concat([fields, mark]).toString("base64url");
}

/** An account and one of its keys, as `tavola account create` prints it. TypeError: not a key. */
export class Account {
  #secret;

  constructor(name, keyText) {
    this.name = name;
    this.#secret = Buffer.from(String(keyText).slice(5), "base64url");
    if (!String(keyText).startsWith("tvk1.") || this.#secret.length !== 32)
      throw new TypeError("not a key of an account: tvk1. and 43 characters, as `tavola account create` prints it");
  }

  /** A token for everything the account has. @param {number} seconds at most 86,400 */
  token(seconds = 900, { issued = new Date() } = {}) {
    if (!(seconds > 0 && seconds <= 86400))
      throw new TypeError(`a token of ${seconds} s: 1 to 86,400 are allowed`);
    const end = new Date(issued.getTime() + Math.round(seconds * 1000));
    return signed("tvt1.", Buffer.concat([account(this.name), varint(ticks(issued)), varint(ticks(end))]), this.#secret);
  }

  /**
   * A shared access signature. TypeError: one that no server would accept.
   * @param {{table: string, permissions?: string, expiry?: Date, start?: Date, policy?: string, source?: string,
   *   startPartition?: string, startRow?: string, endPartition?: string, endRow?: string, protocol?: "any"|"tls"}} fields
   */
  sign(fields, { issued = new Date() } = {}) {
    return signed("tvs1.", signatureFields(this.name, fields, issued), this.#secret);
  }
}

/** {issued, expiry} of a token or signature in milliseconds since 1970; null if its policy sets the expiry, or it is no credential. */
export function lifetimeOf(credential) {
  const bytes = Buffer.from(credential.slice(5), "base64url").subarray(0, -HASH_BYTES);
  let at = 0;
  const number = () => {
    let value = 0n, shift = 0n;
    for (;;) {
      const byte = bytes[at++];
      if (byte === undefined)
        throw new RangeError("not a credential");
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
      if (byte < 0x80)
        return value;
    }
  };
  const skip = () => {
    const length = Number(number());
    at += length;
  };
  try {
    skip();
    const isSignature = credential.startsWith("tvs1.");
    if (isSignature)
      skip();
    const issued = number();
    const flags = isSignature ? Number(number()) : EXPIRY;
    if (!(flags & EXPIRY))
      return null;
    if (flags & START)
      number();
    return { issued: milliseconds(issued), expiry: milliseconds(number()) };
  } catch {
    return null;
  }
}

/** The credential of a client: makes a new one when a third of the life of the last one is left. */
export class Renewing {
  #make; #text; #renewAt = 0;

  /** @param {string|Account|(() => string|Promise<string>)|undefined} token */
  constructor(token) {
    if (token instanceof Account)
      this.#make = () => token.token();
    else if (typeof token === "function")
      this.#make = token;
    else
      this.#text = token;
  }

  get isGiven() {
    return Boolean(this.#make || this.#text);
  }

  /** The credential to send now. */
  async text() {
    if (this.#make && Date.now() >= this.#renewAt) {
      this.#text = await this.#make();
      const life = lifetimeOf(this.#text);
      // One whose end cannot be read here is asked for anew each minute.
      this.#renewAt = life ? life.issued + (life.expiry - life.issued) * 2 / 3 : Date.now() + 60_000;
    }
    return this.#text;
  }
}
