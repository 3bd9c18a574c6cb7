// SPDX-License-Identifier: Apache-2.0
// An emulator of S3 on a port of the system's choice, with the bucket "tavola" in a folder; prints its port.
// Its access key and secret are S3RVER.
//
// usage: node server.mjs FOLDER
import S3rver from "s3rver";

const server = new S3rver({
  address: "127.0.0.1",
  port: 0,
  silent: true,
  directory: process.argv[2],
  configureBuckets: [{ name: "tavola" }],
});
const { port } = await server.run();
console.log(port);
