// SPDX-License-Identifier: Apache-2.0
/** The methods and messages of the API, read from its protos: the package's own copy, else those of the source tree. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { loadSync } from "@grpc/proto-loader";

const packed = fileURLToPath(new URL("../api", import.meta.url));
const folder = existsSync(packed) ? packed : fileURLToPath(new URL("../../../api", import.meta.url));

function protosBelow(path) {
  return readdirSync(path, { withFileTypes: true }).flatMap((entry) => {
    const found = join(path, entry.name);
    return entry.isDirectory() ? protosBelow(found) : entry.name.endsWith(".proto") ? [relative(folder, found)] : [];
  });
}

const definitions = loadSync(protosBelow(folder), {
  includeDirs: [folder], longs: String, enums: String, defaults: true, oneofs: true, arrays: true, objects: true,
});
const repeatable = new Set(
  JSON.parse(readFileSync(join(folder, "service_config_request_ids.json"), "utf8"))
    .methodConfig.flatMap((part) => part.name.map((one) => `${one.service}/${one.method}`)));

/**
 * One method: {path, requestSerialize, responseDeserialize, requestStream, responseStream, repeatable}.
 * @param {string} name as in "EntityService/GetEntity"
 */
export function method(name) {
  const [service, rpc] = name.split("/");
  const found = definitions[`tavola.v1.${service}`]?.[rpc];
  if (!found)
    throw new TypeError(`there is no method ${name}; such as EntityService/GetEntity, see api/tavola/v1`);
  return { ...found, repeatable: repeatable.has(`tavola.v1.${name}`) };
}

/** A message of google.rpc from its bytes. */
export function decodeRpcMessage(name, bytes) {
  return definitions[`google.rpc.${name}`].deserialize(bytes);
}
