// SPDX-License-Identifier: Apache-2.0
/** The connection: TLS, credentials, deadlines, and the one place where calls are repeated (docs/callers.md). */
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import grpc from "@grpc/grpc-js";
import { method } from "./api.js";
import { Renewing } from "./credentials.js";
import { Cancelled, DeadlineExceeded, NOTHING_DONE, ResourceExhausted, Unavailable, errorOfCall } from "./errors.js";

const FIRST_PAUSE_MS = 50, LONGEST_PAUSE_MS = 2000;
const LONGEST_TIMER_MS = 2 ** 31 - 1; // a timer of more goes off at once
const GIVE_UP_MS = 20_000; // how long a stream that is given up may take to end; the service waits 15 s for its database
const STREAM_MS = 300_000; // of one stream, which is then resumed: a dead server is noticed by keepalive long before
const OPTIONS = {
  "grpc.enable_retries": 0, // calls are repeated here, and only here
  "grpc.keepalive_time_ms": 30_000,
  "grpc.keepalive_timeout_ms": 10_000,
  "grpc.initial_reconnect_backoff_ms": 100,
  "grpc.max_reconnect_backoff_ms": 500,
};

const read = (path) => (path ? readFileSync(path) : null);

function tlsOf(tls) {
  if (tls === undefined)
    return process.env.TAVOLA_CA ? { ca: process.env.TAVOLA_CA, certificate: process.env.TAVOLA_CLIENT_CERT, key: process.env.TAVOLA_CLIENT_KEY } : null;
  if (typeof tls === "boolean")
    return tls ? {} : null;
  return typeof tls === "string" ? { ca: tls } : tls;
}

function tokenOf(token) {
  if (token !== undefined)
    return token;
  const path = process.env.TAVOLA_TOKEN_FILE;
  return path ? () => readFileSync(path, "utf8").split("\n")[0].trim() : process.env.TAVOLA_TOKEN;
}

const staysOnMachine = (target) => /^(unix:|127\.|localhost:|\[::1\])/.test(target.replace(/^dns:\/\/\//, ""));

/** The pauses between attempts: they double up to two seconds, a part of them is random, none is shorter than the server asks for. */
class Pauses {
  constructor(patienceMs) {
    this.deadline = Date.now() + patienceMs;
    this.pause = FIRST_PAUSE_MS;
  }

  /** Pause; false at once if the deadline would pass meanwhile. */
  async wait(error, signal) {
    const ms = Math.min(Math.max(error.retryAfterMs ?? 0, this.pause) * (1 + Math.random() / 2), LONGEST_TIMER_MS);
    this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS);
    if (Date.now() + ms >= this.deadline)
      return false;
    await pause(ms, undefined, { signal }).catch(() => {});
    return true;
  }
}

/** Whether the same call may succeed later. A stopping server can end a call as CANCELLED without a reason. */
export function passes(error) {
  return error instanceof Unavailable || (error instanceof ResourceExhausted && error.retryAfterMs !== null) ||
    (error instanceof Cancelled && !error.reason);
}

const resumes = (error) => passes(error) || (error instanceof DeadlineExceeded && !error.reason);

/** Throw what has ended the stream, unless it has ended well. */
export function checkEnd(stream) {
  if (stream.failure)
    throw stream.failure;
}

/**
 * Give up a stream of requests before all of them were sent. `answered` settles when the service has ended the stream.
 * Node's HTTP/2 does not survive a reset of a stream whose bytes wait for the service to read: it makes empty frames, without
 * end, until memory is full (seen with Node 20). So the stream is ended, and reset only if the service does not end it in time:
 * then that danger remains.
 */
export async function giveUp(stream, answered) {
  const waits = new AbortController();
  if (!stream.failure && !stream.writableEnded)
    stream.end();
  await Promise.race([answered, pause(GIVE_UP_MS, undefined, { signal: waits.signal })]).catch(() => {});
  waits.abort();
  stream.cancel();
}

/** A channel to the service. */
export class Connection {
  constructor(target, { token, tls, timeoutMs = 30_000 } = {}) {
    this.target = target ?? (process.env.TAVOLA_TARGET || "127.0.0.1:50051");
    this.timeoutMs = timeoutMs;
    this.token = new Renewing(tokenOf(token));
    const files = tlsOf(tls);
    if (this.token.isGiven && !files && !staysOnMachine(this.target))
      throw new TypeError(`a token would go to ${this.target} in plain text: give tls: true, or a file of authorities`);
    const credentials = files ? grpc.credentials.createSsl(read(files.ca), read(files.key), read(files.certificate))
      : grpc.credentials.createInsecure();
    this.channel = new grpc.Client(this.target, credentials, OPTIONS);
  }

  close() {
    this.channel.close();
  }

  async metadata() {
    const metadata = new grpc.Metadata();
    if (this.token.isGiven)
      metadata.set("authorization", `Bearer ${await this.token.text()}`);
    return metadata;
  }

  async #once(found, request, deadline) {
    const metadata = await this.metadata();
    return new Promise((resolve, reject) => {
      this.channel.makeUnaryRequest(found.path, found.requestSerialize, found.responseDeserialize, request, metadata,
        { deadline }, (failed, reply) => (failed ? reject(errorOfCall(failed)) : resolve(reply)));
    });
  }

  /** The reply to a unary call, which is repeated as docs/callers.md allows until timeoutMs have passed. */
  async call(name, request, timeoutMs = this.timeoutMs) {
    const found = method(name);
    const repeatable = found.repeatable && request.requestId !== "";
    const pauses = new Pauses(timeoutMs);
    for (;;) {
      try {
        return await this.#once(found, request, pauses.deadline);
      } catch (error) {
        if (!passes(error) || !(repeatable || NOTHING_DONE.has(error.reason)) || !await pauses.wait(error))
          throw error;
      }
    }
  }

  /** Open a stream once. A stream whose requests are a stream too is written to by the caller. */
  async open(name, request) {
    const found = method(name), metadata = await this.metadata(), options = { deadline: Date.now() + STREAM_MS };
    const coders = [found.path, found.requestSerialize, found.responseDeserialize];
    const stream = found.requestStream ? this.channel.makeBidiStreamRequest(...coders, metadata, options)
      : this.channel.makeServerStreamRequest(...coders, request, metadata, options);
    // A failure that comes while nobody reads would be lost: the stream would seem to end well.
    stream.on("error", (failed) => { stream.failure = failed; });
    return stream;
  }
}

/**
 * The messages of ScanEntities or WatchEntities: after a break the stream goes on from the resumeToken of the last one. A
 * failure is thrown when no message has come for `patienceMs`.
 */
export class ResumedStream {
  #stopped = new AbortController();

  /** isWhole: a break after the first message is thrown, because the stream cannot be resumed. */
  constructor(connection, name, request, { isWhole = false } = {}) {
    Object.assign(this, { connection, name, request, isWhole, hasBegun: false, patienceMs: connection.timeoutMs });
  }

  /** End the iteration. */
  cancel() {
    this.#stopped.abort();
    this.stream?.cancel();
  }

  async *[Symbol.asyncIterator]() {
    let pauses = new Pauses(this.patienceMs);
    while (!this.#stopped.signal.aborted) {
      try {
        this.stream = await this.connection.open(this.name, this.request);
        for await (const message of this.stream) {
          this.hasBegun = true;
          yield message;
          this.request.resumeToken = message.resumeToken;
          pauses = new Pauses(this.patienceMs);
        }
        checkEnd(this.stream);
        return;
      } catch (failed) {
        const error = errorOfCall(failed);
        if (this.#stopped.signal.aborted)
          return;
        if (!resumes(error) || (this.isWhole && this.hasBegun) || !await pauses.wait(error, this.#stopped.signal))
          throw error;
      } finally {
        this.stream?.cancel();
      }
    }
  }
}

/**
 * Run `attempt`, which throws what gRPC throws, again after each break until it succeeds; `progress` is a number that grows when
 * something was done, which begins the patience anew.
 */
export async function resumed(connection, attempt, progress) {
  let pauses = new Pauses(connection.timeoutMs), before = progress();
  for (;;) {
    try {
      return await attempt();
    } catch (failed) {
      const error = errorOfCall(failed);
      if (progress() > before)
        [pauses, before] = [new Pauses(connection.timeoutMs), progress()];
      if (!resumes(error) || !await pauses.wait(error))
        throw error;
    }
  }
}
