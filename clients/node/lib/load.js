// SPDX-License-Identifier: Apache-2.0
/** Imports: a stream of messages, each answered once it is committed. After a break, what was not answered is sent again. */
import { method } from "./api.js";
import { checkEnd, resumed } from "./connection.js";
import { encodeEntity } from "./entity.js";
import { errorOfMessage } from "./errors.js";

const MESSAGE_ENTITIES = 300; // a message with more refused entities than that would be answered in parts
const MESSAGE_BYTES = 1 << 20;
const WINDOW = 8; // messages under way

async function *messages(table, entities) {
  const size = (request) => method("EntityService/ImportEntities").requestSerialize(request).length;
  let position = 0, message = { table: table.name, entities: [] }, bytes = 0;
  for await (const entity of entities) {
    const one = encodeEntity(entity, table.encrypt), more = size({ entities: [one] });
    if (message.entities.length && (bytes + more > MESSAGE_BYTES || message.entities.length === MESSAGE_ENTITIES)) {
      yield { position, message };
      position += message.entities.length;
      [message, bytes] = [{ table: table.name, entities: [] }, 0];
    }
    message.entities.push(one);
    bytes += more;
  }
  if (message.entities.length)
    yield { position, message };
}

function note(result, { position, message }, reply, sentBefore) {
  result.committed += message.entities.length - reply.rejected.length;
  for (const one of reply.rejected)
    result.rejected.push({ position: position + Number(one.position) - sentBefore,
      key: [one.key.partitionKey, one.key.rowKey], error: errorOfMessage(one.error) });
  if (reply.consistencyToken)
    result.consistencyTokens.push(reply.consistencyToken);
}

async function runOnce(table, source, waiting, result) {
  const stream = await table.client.connection.open("EntityService/ImportEntities");
  const fill = async () => {
    while (waiting.length < WINDOW) {
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
      const answered = waiting.shift();
      note(result, answered, reply, sent);
      sent += answered.message.entities.length;
      await fill();
    }
    checkEnd(stream);
  } finally {
    stream.cancel();
  }
}

/** See Table.load. */
export async function load(table, entities) {
  const result = { committed: 0, rejected: [], consistencyTokens: [] }, waiting = [], source = messages(table, entities);
  await resumed(table.client.connection, () => runOnce(table, source, waiting, result), () => result.committed + result.rejected.length);
  return result;
}
