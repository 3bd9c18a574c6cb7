// SPDX-License-Identifier: Apache-2.0
// Jobs that do nothing, processed after they were added: node graphile.js JOBS; the database is that of PGHOST, PGUSER
// and PGDATABASE. Tuned as its documentation advises: a local queue, completions in batches.
'use strict'

const { makeWorkerUtils, run, Logger } = require('graphile-worker')
const { Pool } = require('pg')

async function main(jobs) {
    const pgPool = new Pool({ max: 12 })
    const preset = {
        worker: {
            localQueue: { size: 500, refetchDelay: { durationMs: 0 } },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
        },
    }
    const shared = { pgPool, preset, logger: new Logger(() => () => {}) }
    const utils = await makeWorkerUtils(shared)
    let left = jobs
    let stop

    await utils.migrate()
    await pgPool.query(
        `select graphile_worker.add_jobs(array(select json_populate_record(null::graphile_worker.job_spec,
         json_build_object('identifier', 'job', 'payload', json_build_object('key', n)))
         from generate_series(1, $1::int) n))`, [jobs])
    const done = new Promise((resolve) => { stop = resolve })
    const began = process.hrtime.bigint()
    await run({ ...shared, concurrency: 24, noHandleSignals: true, taskList: {
        job: async () => {
            if (--left === 0) stop()
        },
    } })
    await done
    console.log(`jobs ${jobs} seconds ${Number(process.hrtime.bigint() - began) / 1e9}`)
    process.exit(0)
}

main(Number(process.argv[2]))
