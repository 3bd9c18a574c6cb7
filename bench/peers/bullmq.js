// SPDX-License-Identifier: Apache-2.0
// Jobs that do nothing, added and processed at once: node bullmq.js REDIS_SOCKET JOBS
'use strict'

const { Queue, Worker } = require('bullmq')

async function main(socket, jobs) {
    const connection = { path: socket, maxRetriesPerRequest: null }
    const queue = new Queue('bench', { connection, defaultJobOptions: { removeOnComplete: true } })
    const began = process.hrtime.bigint()
    let left = jobs
    const done = new Promise((resolve) => {
        const work = async () => {
            if (--left === 0) resolve()
        }
        new Worker('bench', work, { connection, concurrency: 64 })
    })

    for (let added = 0; added < jobs; added += 500)
        await queue.addBulk(Array.from({ length: 500 }, (_, i) => ({ name: 'job', data: { key: added + i } })))
    await done
    console.log(`jobs ${jobs} seconds ${Number(process.hrtime.bigint() - began) / 1e9}`)
    process.exit(0)
}

main(process.argv[2], Number(process.argv[3]))
