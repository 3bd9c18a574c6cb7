// SPDX-License-Identifier: Apache-2.0
/** Imports: a stream of messages, each answered once it is committed. After a break, what was not answered is sent again. */
import { method } from "./api.js";
import { checkEnd, resumed } from "./connection.js";
import { encodeEntity } from "./entity.js";
import { Internal, errorOfMessage } from "./errors.js";

const MESSAGE_ENTITIES = 300; // a message with more refused entities than that would be answered in parts
const MESSAGE_BYTES = 1 << 20;
const PART_BYTES = 2 << 20; // of properties: an entity with more is sent in parts
const WINDOW = 8; // messages under way

const size = (request) => method("EntityService/ImportEntities").requestSerialize(request).length;

/** A message for each part of a large entity: its properties in the order of their names (bytes). */
function *parts(table, entity) {
  const names = Object.keys(entity.properties).sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
  let message = null, bytes = 0;
  for (const name of names) {
    const property = { [name]: entity.properties[name] }, more = size({ entities: [{ properties: property }] });
    if (!message || bytes + more > PART_BYTES) {
      if (message)
        yield message;
      message = { table: table.name, entities: [{ ...entity, properties: {} }], continues: true };
      bytes = 0;
    }
    Object.assign(message.entities[0].properties, property);
    bytes += more;
  }
  message.continues = false;
  yield message;
}

/** The entities of a message: one that continues counts with its last part. */
const count = (message) => message.entities.length - Number(message.continues ?? false);

async function *messages(table, entities) {
  let position = 0, message = { table: table.name, entities: [] }, bytes = 0;
  for await (const entity of entities) {
    const one = encodeEntity(entity, table.encrypt), more = size({ entities: [one] });
    if (message.entities.length && (bytes + more > MESSAGE_BYTES || message.entities.length === MESSAGE_ENTITIES)) {
      yield { position, message };
      position += message.entities.length;
      [message, bytes] = [{ table: table.name, entities: [] }, 0];
    }
    if (more > PART_BYTES) {
      for (const part of parts(table, one))
        yield { position, message: part };
      position++;
      continue;
    }
    message.entities.push(one);
    bytes += more;
  }
  if (message.entities.length)
    yield { position, message };
}

function note(result, { position, message }, reply, sentBefore) {
  result.committed += count(message) - reply.rejected.length;
  for (const one of reply.rejected)
    result.rejected.push({ position: position + Number(one.position) - sentBefore,
      key: [one.key.partitionKey, one.key.rowKey], error: errorOfMessage(one.error) });
  if (reply.consistencyToken)
    result.consistencyTokens.push(reply.consistencyToken);
}

/**
 * The messages of the source up to its failure, which is kept: it is thrown once what was sent before it has been answered. To reset
 * the stream instead would be harmful (connection.js, giveUp), and to throw it in an attempt would have the attempt repeated.
 */
async function *untilFailure(source, failures) {
  try {
    yield* source;
  } catch (failed) {
    failures.push(failed);
  }
}

async function runOnce(table, source, waiting, result) {
  const stream = await table.client.connection.open("EntityService/ImportEntities");
  let inParts = 0; // the first ones of those waiting: answered parts of an entity, which is sent again as a whole
  const fill = async () => {
    while (waiting.length - inParts < WINDOW) {
      const next = await source.next();
      if (next.done)
        break;
      waiting.push(next.value);
      stream.write(next.value.message);
    }
    if (!waiting.length)
      stream.end();
  };
  let sent = 0;
  try {
    for (const { message } of waiting)
      stream.write(message);
    await fill();
    checkEnd(stream);
    for await (const reply of stream) {
      const answered = waiting[inParts++];
      note(result, answered, reply, sent);
      sent += count(answered.message);
      if (!answered.message.continues) {
        waiting.splice(0, inParts);
        inParts = 0;
      }
      await fill();
    }
    checkEnd(stream);
    if (waiting.length)
      throw new Internal(`the service has ended the import, and has not answered ${waiting.length} of its messages`);
  } finally {
    stream.cancel();
  }
}

/** See Table.load. */
export async function load(table, entities) {
  const result = { committed: 0, rejected: [], consistencyTokens: [] }, waiting = [], failures = [];
  const source = untilFailure(messages(table, entities), failures);
  await resumed(table.client.connection, () => runOnce(table, source, waiting, result), () => result.committed + result.rejected.length)
    .catch((failed) => failures.push(failed));
  if (failures.length)
    throw failures[0];
  return result;
}
