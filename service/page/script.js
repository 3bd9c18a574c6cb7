// SPDX-License-Identifier: Apache-2.0
// script.js - the page at / of the HTTP port. The page gets all its data through the JSON door (service/connect),
// with the token that the user has entered. The token stays in a variable and is never stored. Text is put into the
// page as text nodes, never as HTML.

let token = '';
const REFRESH_MS = 5000;

// ---- calls ----

class CallError extends Error {
    constructor(code, reason, message) {
        super(message);
        this.code = code;
        this.reason = reason;
    }
}

// The message of an error begins with its reason: "TABLE_NOT_FOUND: table x does not exist".
function errorOf(answer, status) {
    const [, reason, rest] = /^([A-Z_]+): ([^]*)$/.exec(answer.message || '') || [null, '', answer.message || `HTTP ${status}`];
    return new CallError(answer.code || 'unknown', reason, rest);
}

async function call(method, request = {}) {
    const headers = { 'Content-Type': 'application/json', 'Connect-Protocol-Version': '1', 'Connect-Timeout-Ms': '20000' };
    if (token)
        headers.Authorization = `Bearer ${token}`;
    const response = await fetch(`/tavola.v1.${method}`, { method: 'POST', headers, body: JSON.stringify(request), cache: 'no-store' });
    const answer = await response.json().catch(() => ({}));
    if (!response.ok)
        throw errorOf(answer, response.status);
    return answer;
}

// The elements of all pages of a list, at most `most`.
async function list(method, field, request = {}, most = 1000) {
    const out = [];
    let pageToken = '';
    do {
        const page = await call(method, { ...request, pageToken });
        out.push(...(page[field] || []));
        pageToken = page.nextPageToken || '';
    } while (pageToken && out.length < most);
    return out;
}

// ---- elements ----

function fill(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
        if (name.startsWith('on'))
            node.addEventListener(name.slice(2), value);
        else if (value !== undefined && value !== false && value !== null)
            node.setAttribute(name, value === true ? '' : value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) => fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

// columns: [title, row => content, class]
function table(caption, columns, rows, empty = 'none') {
    const head = columns.map(([title, , kind]) => el('th', { scope: 'col', class: kind }, title));
    const body = rows.map((row) => el('tr', {}, columns.map(([, content, kind]) => el('td', { class: kind }, content(row) ?? ''))));
    if (!rows.length)
        body.push(el('tr', {}, el('td', { colspan: columns.length, class: 'faint' }, empty)));
    return el('div', { class: 'scroll' }, el('table', {}, el('caption', {}, caption), el('thead', {}, el('tr', {}, head)), el('tbody', {}, body)));
}

const button = (text, act, attributes = {}) => el('button', { type: 'button', onclick: act, ...attributes }, text);

// ---- texts ----

const plain = (name) => (name || '').replace(/^(INDEX_STATE|INDEX_SHAPE|INDEX_CONSISTENCY|QUEUE_STATE|WORK_KIND|DEAD_LETTER_STATE|TRANSACTION_STATE|OPERATION_STATE|ACCESS_PATH|HOT_PATTERN)_/, '').toLowerCase().replaceAll('_', ' ');
const seconds = (duration) => parseFloat(duration || '0');
const count = (number) => Number(number || 0).toLocaleString('en');
const when = (time) => (time ? time.replace('T', ' ').replace(/\.\d+Z$/, 'Z') : '');

function span(value) {
    if (value === 0)
        return '0 s';
    if (value < 1e-3)
        return `${(value * 1e6).toFixed(0)} us`;
    if (value < 1)
        return `${(value * 1e3).toFixed(1)} ms`;
    return value < 120 ? `${value.toFixed(1)} s` : `${(value / 60).toFixed(0)} min`;
}

const units = [[1e9, 'GB', 2], [1e6, 'MB', 0], [1e3, 'kB', 0], [1, 'bytes', 0]];

function bytes(value) {
    const [size, name, digits] = units.find(([least]) => value >= least) || units.at(-1);
    return `${(value / size).toFixed(digits)} ${name}`;
}

// ---- plots ----

const WIDTH = 320, HEIGHT = 110, LEFT = 2, TOP = 14;
const AN_HOUR = 360, SAMPLES_A_MINUTE = 6, AXES = [30, 90, AN_HOUR]; // in samples: 5 minutes, 15 minutes, an hour; the shortest that holds all

// series: arrays of numbers, the newest last; null: not measured. format: turns a number into text.
function plot(title, series, format) {
    const most = Math.max(...series.flat().filter((value) => value !== null), 0) || 1;
    const axis = AXES.find((samples) => series[0].length <= samples) || AN_HOUR;
    const x = (at, length) => LEFT + (WIDTH - 2 * LEFT) * (axis - length + at) / (axis - 1), y = (value) => HEIGHT - 12 - (HEIGHT - 12 - TOP) * value / most;
    const lines = series.map((values, number) => {
        let path = '', pen = 'M';
        values.forEach((value, at) => {
            path += value === null ? '' : `${pen}${x(at, values.length).toFixed(1)} ${y(value).toFixed(1)}h.1`;
            pen = value === null ? 'M' : 'L';
        });
        return svg('path', { class: `line-${number}`, d: path });
    });
    const now = series.map((values) => (values.length && values.at(-1) !== null ? format(values.at(-1)) : '-')).join(' / ');
    const text = `${title}: ${now} now, at most ${format(most)} in the last hour`;
    return el('figure', {}, el('figcaption', {}, title, el('span', { class: 'now' }, now)),
        svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': text },
            svg('line', { class: 'rule', x1: 0, x2: WIDTH, y1: y(0), y2: y(0) }),
            svg('line', { class: 'rule', x1: 0, x2: WIDTH, y1: y(most), y2: y(most), 'stroke-dasharray': '2 3' }),
            svg('text', { x: LEFT, y: 10 }, format(most)), svg('text', { x: LEFT, y: HEIGHT - 3 }, axis === AN_HOUR ? 'an hour ago' : `${axis / SAMPLES_A_MINUTE} minutes ago`),
            svg('text', { x: WIDTH - LEFT, y: HEIGHT - 3, 'text-anchor': 'end' }, 'now'), lines));
}

// ---- views ----

// A view for administrators: its content or, for another caller, a line that says that only administrators see it.
async function forAdministrators(make) {
    try {
        return await make();
    } catch (error) {
        if (error.code !== 'permission_denied')
            throw error;
        return el('p', { class: 'faint' }, 'Shown to administrators only.');
    }
}

async function serverPlots() {
    const { samples = [], memoryLimitBytes, version } = await call('AdminService/ListServerSamples');
    const of = (pick) => samples.map(pick), rate = (sample, field) => Number(sample[field] || 0) / (seconds(sample.covered) || 1);
    return el('section', { 'aria-label': 'This server' }, el('h3', {}, `This server, version ${version}`), el('div', { class: 'grid' },
        plot('Calls a second / not OK', [of((s) => rate(s, 'calls')), of((s) => rate(s, 'failed'))], (v) => count(Math.round(v))),
        plot('Duration, median / 99th percentile', [of((s) => (s.median ? seconds(s.median) : null)), of((s) => (s.slow ? seconds(s.slow) : null))], span),
        plot('Lag of the workers', [of((s) => (s.backlog ? seconds(s.backlog.lag) : null))], span),
        plot('Dead letters', [of((s) => (s.backlog ? Number(s.backlog.deadLetters || 0) : null))], count),
        plot('Operations that wait', [of((s) => Number(s.waiting || 0))], count),
        plot('Connections', [of((s) => Number(s.connections || 0))], count),
        plot(`Memory, bound ${bytes(Number(memoryLimitBytes || 0))}`, [of((s) => Number(s.memoryBytes || 0))], bytes)));
}

async function queueTable() {
    const { queues = [] } = await call('AdminService/ListQueues');
    const rows = queues.flatMap((queue) => (queue.work || []).map((work) => ({ queue: queue.name, ...work })));
    const control = (row) => button(row.state === 'QUEUE_STATE_RUNNING' ? 'Pause' : 'Resume', async () => {
        await call('AdminService/ControlQueue', { queue: row.queue, kind: row.kind, control: row.state === 'QUEUE_STATE_RUNNING' ? 'QUEUE_CONTROL_PAUSE' : 'QUEUE_CONTROL_RESUME' });
        await show();
    }, { 'aria-label': `${row.state === 'QUEUE_STATE_RUNNING' ? 'Pause' : 'Resume'} ${row.queue} ${plain(row.kind)}` });
    return table('Queues of work that follows writes', [['Queue', (r) => r.queue], ['Work', (r) => plain(r.kind)], ['State', (r) => plain(r.state)],
        ['Open', (r) => count(r.openIntents), 'number'], ['Oldest', (r) => span(seconds(r.oldestAge)), 'number'],
        ['Applied a second', (r) => (r.appliedPerSecond || 0).toFixed(1), 'number'], ['', control]], rows);
}

async function overview() {
    const letters = forAdministrators(async () => {
        const { causes = [] } = await call('AdminService/ListDeadLetters', { groupByCause: true, filter: { state: 'DEAD_LETTER_STATE_DEAD' } });
        const total = causes.reduce((sum, cause) => sum + Number(cause.count), 0);
        return el('p', { class: total ? 'bad' : 'good' }, total ? el('a', { href: '#/dead-letters' }, `${count(total)} dead letter${total === 1 ? '' : 's'}`) : 'No dead letters.');
    });
    return [el('h2', {}, 'Overview'), await letters, await forAdministrators(serverPlots), el('h3', {}, 'Work'), await forAdministrators(queueTable)];
}

async function tables() {
    const rows = await list('TableService/ListTables', 'tables');
    return [el('h2', {}, 'Tables'), table(`${count(rows.length)} tables of this account`, [
        ['Name', (t) => el('a', { href: `#/tables/${encodeURIComponent(t.name)}` }, t.name)], ['Made', (t) => when(t.created)],
        ['Index', (t) => t.index], ['Change feed', (t) => (t.changeFeed ? 'yes' : '')], ['Longest plan', (t) => plain(t.defaultMaxPlan)]], rows, 'No tables yet.')];
}

function textOf(value) {
    const [kind, content] = Object.entries(value || {})[0] || ['', ''];
    return kind === 'stringValue' ? content : `${content}`;
}

// A form. fields: [name, label, attributes]. submit is called with an object that has the text of each field.
function form(fields, text, submit) {
    const inputs = fields.map(([name, label, attributes]) => el('label', { class: attributes?.class }, label,
        el('input', { name, autocomplete: 'off', spellcheck: 'false', ...attributes, class: undefined })));
    return el('form', { onsubmit: (event) => {
        event.preventDefault();
        submit(Object.fromEntries(new FormData(event.target)));
    } }, inputs, el('button', {}, text));
}

function ask(title, content, buttons) {
    const dialog = el('dialog', { 'aria-label': title }, el('h2', {}, title), content);
    const close = () => dialog.close();
    dialog.append(el('form', { method: 'dialog' }, buttons.map(([text, act, kind]) => button(text, () => act(close), { class: kind })), button('Close', close)));
    dialog.addEventListener('close', () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}

function entityDialog(name, entity) {
    const editor = el('textarea', { 'aria-label': 'The entity as JSON', spellcheck: 'false' });
    editor.value = JSON.stringify({ partitionKey: entity.partitionKey, rowKey: entity.rowKey, properties: entity.properties || {} }, null, 2);
    const key = { partitionKey: entity.partitionKey, rowKey: entity.rowKey }, precondition = { ifMatch: entity.etag || '*' };
    const act = (work) => async (close) => {
        try {
            await work();
            close();
            await show();
        } catch (error) {
            say(error);
        }
    };
    const touched = async () => {
        const { transactions = [] } = await call('TransactionService/ListTransactions', { entity: { table: name, key } });
        location.hash = transactions.length ? `#/transactions/${encodeURIComponent(transactions[0].transactionId)}` : '#/transactions';
    };
    ask(`${entity.partitionKey} / ${entity.rowKey}`, [el('p', { class: 'faint' }, `Version ${entity.etag || 'none'}, written ${when(entity.timestamp)}`), editor], entity.etag ? [
        ['Save', act(() => call('EntityService/ReplaceEntity', { table: name, entity: JSON.parse(editor.value), precondition }))],
        ['What touched it', act(touched)],
        ['Delete', act(() => call('EntityService/DeleteEntity', { table: name, key, precondition })), 'danger']] : [
        ['Insert', act(() => call('EntityService/InsertEntity', { table: name, entity: JSON.parse(editor.value) }))]]);
}

const queries = new Map(); // per table: the filter, and the tokens of the pages that were shown

async function browse(name) {
    const state = queries.get(name) || { filter: '', tokens: [''] };
    queries.set(name, state);
    const query = { table: name, filter: state.filter };
    const page = await call('EntityService/QueryEntities', { query, pageSize: 50, pageToken: state.tokens.at(-1) });
    const rows = page.entities || [], stats = page.stats || {};
    const names = [...new Set(rows.flatMap((row) => Object.keys(row.properties || {})))].sort().slice(0, 12);
    const cost = `${plain(stats.accessPath)}${stats.index ? ` by ${stats.index}` : ''}: ${count(stats.rowsExamined)} rows and ${bytes(Number(stats.bytesExamined || 0))} examined, ${count(rows.length)} shown`;
    const go = (tokens) => () => {
        state.tokens = tokens;
        show();
    };
    const explain = async () => {
        const { suggestions = [], expected = {} } = await call('EntityService/ExplainQuery', { query });
        ask('Plan', [el('p', {}, plain(expected.accessPath)), el('ul', {}, suggestions.map((text) => el('li', {}, text)))], []);
    };
    return [el('h2', {}, name), form([['filter', 'Filter', { value: state.filter, placeholder: "PartitionKey eq 'sales' and Age ge 30", class: 'grow' }]], 'Query', ({ filter }) => {
        queries.set(name, { filter, tokens: [''] });
        show();
    }), el('form', {}, button('Plan', () => explain().catch(say)), button('New entity', () => entityDialog(name, { partitionKey: '', rowKey: '' })),
        state.tokens.length > 1 ? button('First page', go([''])) : null, page.nextPageToken ? button('Next page', go([...state.tokens, page.nextPageToken])) : null),
    table(cost, [['PartitionKey', (r) => button(r.partitionKey, () => entityDialog(name, r), { 'aria-label': `Open ${r.partitionKey} / ${r.rowKey}` })], ['RowKey', (r) => r.rowKey],
        ...names.map((property) => [property, (r) => textOf(r.properties?.[property]).slice(0, 80)])], rows, 'No entity matches.')];
}

async function indexes() {
    const rows = await list('IndexService/ListIndexes', 'indexes');
    const parts = (index) => (index.partitionKey || []).map((part) => part.property || `'${part.literal}'`).join(', ');
    const proof = ({ verified }) => (verified ? `${when(verified.ended || verified.started)}: ${count(['missing', 'dangling', 'mismatched', 'manifests'].reduce((sum, kind) => sum + Number(verified[kind] || 0), 0))} differences` : 'never');
    const state = ({ status }) => {
        if (status.build?.error) return el('span', { class: 'bad', title: status.build.error.message }, 'build failed');
        return status.build && status.state === 'INDEX_STATE_BUILDING' ? `building, ${count(status.build.done)} of ${count(status.build.total)}` : plain(status.state);
    };
    const verify = (row) => button('Verify', async () => {
        await call('IndexService/VerifyIndex', { name: row.index.name });
        say(`The verification of ${row.index.name} runs; its result appears here.`);
    }, { 'aria-label': `Verify ${row.index.name}` });
    return [el('h2', {}, 'Indexes'), table(`${count(rows.length)} indexes of this account`, [
        ['Name', (r) => el('a', { href: `#/tables/${encodeURIComponent(r.index.name)}` }, r.index.name)], ['Table', (r) => r.index.table], ['By', (r) => parts(r.index)],
        ['Kind', (r) => [plain(r.index.shape), r.index.unique ? 'unique' : '', plain(r.index.consistency)].filter(Boolean).join(', ')], ['State', state],
        ['Entries', (r) => count(r.status.entries), 'number'], ['Behind', (r) => span(seconds(r.status.lag?.age)), 'number'],
        ['Violations', (r) => el('span', { class: Number(r.status.violations || 0) ? 'warn' : '', title: (r.status.violationCauses || []).join('; ') }, count(r.status.violations)), 'number'],
        ['Last proof', (r) => proof(r.status), 'wide'], ['', verify]], rows, 'No indexes yet.')];
}

async function transactions() {
    const rows = await list('TransactionService/ListTransactions', 'transactions', {}, 200);
    return [el('h2', {}, 'Transactions'), table('The transactions that are still stored', [
        ['Id', (t) => el('a', { href: `#/transactions/${encodeURIComponent(t.transactionId)}` }, t.transactionId)],
        ['State', (t) => el('span', { class: /DEAD|FAILED/.test(t.state) ? 'bad' : '' }, plain(t.state))],
        ['Steps done', (t) => count(t.stepsDone), 'number'], ['Submitted', (t) => when(t.submitted)]], rows, 'No transactions.')];
}

const stepText = (step) => Object.entries(step).filter(([name]) => name !== 'precondition').map(([name, action]) => {
    const at = (address) => `${address?.table} ${(address?.key || address?.entity)?.partitionKey} / ${(address?.key || address?.entity)?.rowKey}`;
    return name === 'move' ? `move ${at(action.source)} to ${at(action.destination)}` : `${name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)} ${at(action)}`;
}).join('');

// A row for each step of a transaction; its attempts are bars on a time axis.
function timeline(transaction) {
    const attempts = transaction.timeline || [], time = (text) => Date.parse(text) / 1000;
    const begin = time(transaction.submitted), end = Math.max(...attempts.map((one) => time(one.ended || one.started)), begin + 1e-3);
    const steps = transaction.steps || [], high = 22, x = (at) => 4 + (WIDTH * 2 - 8) * (at - begin) / (end - begin);
    return el('figure', {}, el('figcaption', {}, 'Attempts', el('span', {}, span(end - begin))),
        svg('svg', { viewBox: `0 0 ${WIDTH * 2} ${steps.length * high + 6}`, role: 'img', 'aria-label': `${attempts.length} attempts at ${steps.length} steps in ${span(end - begin)}` },
            steps.map((_, step) => svg('text', { x: 0, y: step * high + 10 }, `step ${step + 1}`)),
            attempts.map((one) => svg('rect', { class: one.error ? 'bar bad' : 'bar', x: x(time(one.started)), y: Number(one.step || 0) * high + 13,
                width: Math.max(3, x(time(one.ended || one.started)) - x(time(one.started))), height: 7 }))));
}

async function transaction(id) {
    const { transaction: found } = await call('TransactionService/GetTransaction', { transactionId: id });
    return [el('h2', {}, id), el('p', {}, `${plain(found.state)}, submitted ${when(found.submitted)}`), timeline(found),
        table('Steps', [['Step', (s) => s.number, 'number'], ['What', (s) => stepText(s.step), 'wide'], ['Done', (s) => (s.number <= (found.stepsDone || 0) ? 'yes' : '')]],
            (found.steps || []).map((step, at) => ({ step, number: at + 1 }))),
        table('Attempts', [['Step', (a) => Number(a.step || 0) + 1, 'number'], ['Attempt', (a) => a.number, 'number'], ['Worker', (a) => a.worker], ['Began', (a) => when(a.started)],
            ['ETag before', (a) => a.etagBefore], ['ETag after', (a) => a.etagAfter], ['Error', (a) => a.error && `${a.error.reason}: ${a.error.message}`, 'wide']], found.timeline || [])];
}

async function deadLetters() {
    return [el('h2', {}, 'Dead letters'), await forAdministrators(async () => {
        const { deadLetters: rows = [] } = await call('AdminService/ListDeadLetters', { pageSize: 200 });
        const redrive = (row) => button('Redrive', async () => {
            const request = { deadLetterIds: [row.deadLetterId] };
            const { differences = [] } = await call('AdminService/RedriveDeadLetters', { ...request, dryRun: true });
            const effects = [['missing', 'adds $ entries'], ['dangling', 'removes $ entries'], ['mismatched', 'rewrites $ entries'], ['steps', 'carries out $ steps'],
                ['copies', 'changes the copies of $ entities'], ['dependents', 'looks at the copies of $ entities'], ['violations', 'fails again for $ indexes or copies']];
            const effect = differences.flatMap((d) => effects.filter(([name]) => Number(d[name])).map(([name, text]) => text.replace('$', d[name]))).join(', ');
            ask(`Redrive ${row.deadLetterId}?`, el('p', {}, `It ${effect || 'changes nothing'}.`), [['Redrive', async (close) => {
                await call('AdminService/RedriveDeadLetters', request);
                close();
                await show();
            }]]);
        }, { 'aria-label': `Redrive ${row.deadLetterId}` });
        const discard = (row) => button('Discard', () => {
            const reason = el('input', { 'aria-label': 'Reason' });
            ask(`Discard ${row.deadLetterId}?`, [el('p', {}, 'Its work is not done. Say why:'), reason], [['Discard', async (close) => {
                await call('AdminService/DiscardDeadLetters', { deadLetterIds: [row.deadLetterId], reason: reason.value }).then(close, say);
                await show();
            }, 'danger']]);
        }, { 'aria-label': `Discard ${row.deadLetterId}` });
        return table('Work that was given up', [['Number', (d) => d.deadLetterId, 'number'], ['', (d) => (d.state === 'DEAD_LETTER_STATE_DEAD' ? [redrive(d), ' ', discard(d)] : null)], ['Work', (d) => plain(d.kind)], ['State', (d) => plain(d.state)], ['Account', (d) => d.account], ['Table', (d) => d.table],
            ['Index or transaction', (d) => d.index || d.transactionId], ['Key', (d) => (d.key ? `${d.key.partitionKey} / ${d.key.rowKey}` : '')], ['Failures', (d) => d.failures, 'number'],
            ['Cause', (d) => d.cause, 'wide'], ['Last', (d) => when(d.lastFailed)]], rows, 'No dead letters.');
    })];
}

// The partitions of a table as a line of ranges in the order of their keys, each as dark as its accesses. The boundaries are keys that were sampled.
const MOST_RANGES = 40;

function rangesOf(partitions) {
    const sorted = [...partitions].sort((a, b) => ((a.partitionKey || '') < (b.partitionKey || '') ? -1 : 1));
    const each = Math.ceil(sorted.length / MOST_RANGES);
    const out = [];
    for (let first = 0; first < sorted.length; first += each) {
        const part = sorted.slice(first, first + each);
        const rate = (name) => part.reduce((sum, p) => sum + (p[name] || 0), 0);
        out.push({ from: part[0].partitionKey || '', to: part[part.length - 1].partitionKey || '', reads: rate('readsPerSecond'), writes: rate('writesPerSecond') });
    }
    return out;
}

function heatMap(partitions) {
    const tables = new Map();
    for (const p of partitions.filter((one) => !one.ofOrder)) {
        const name = `${p.account} / ${p.table}`;
        tables.set(name, [...(tables.get(name) || []), p]);
    }
    return [...tables].slice(0, 12).map(([name, rows]) => {
        const ranges = rangesOf(rows);
        const most = Math.max(...ranges.map((range) => range.reads + range.writes), 1e-9);
        const cells = ranges.map((range) => {
            const text = `${range.from === range.to ? range.from : `${range.from} to ${range.to}`}: ${range.reads.toFixed(1)} reads, ${range.writes.toFixed(1)} writes a second`;
            const cell = el('li', { title: text, 'aria-label': text }, el('i'));
            cell.firstChild.style.opacity = Math.max(0.06, (range.reads + range.writes) / most).toFixed(2);
            return cell;
        });
        return el('figure', { class: 'map' }, el('figcaption', {}, name, el('span', { class: 'now' }, `up to ${most.toFixed(1)} accesses a second`)),
            el('ol', { class: 'ranges', 'aria-label': `Accesses to ${name} by ranges of PartitionKey` }, cells),
            el('p', { class: 'ends faint' }, el('span', {}, ranges[0].from), el('span', {}, ranges[ranges.length - 1].to)));
    });
}

async function hot() {
    return [el('h2', {}, 'Hot partitions'), await forAdministrators(async () => {
        const { partitions: rows = [], covered } = await call('AdminService/ListHotPartitions', { span: 'HOT_SPAN_HOUR', limit: 1000 });
        const heat = (row) => {
            const bar = el('i');
            bar.style.width = `${Math.min(100, 100 * (row.share || 0))}%`;
            return el('span', { class: 'heat', role: 'img', 'aria-label': `${(100 * (row.share || 0)).toFixed(0)} percent of the table's accesses` }, bar);
        };
        return [heatMap(rows), table(seconds(covered) ? `Most reads and writes in the last ${span(seconds(covered))}` : 'Nothing was counted yet', [['Share', heat], ['Account', (p) => p.account], ['Table', (p) => p.table], ['PartitionKey', (p) => `${p.partitionKey || ''}${p.cut ? '...' : ''}`],
            ['Reads a second', (p) => (p.readsPerSecond || 0).toFixed(1), 'number'], ['Writes a second', (p) => (p.writesPerSecond || 0).toFixed(1), 'number'], ['Looks like', (p) => plain(p.pattern)],
            ['Remedy', (p) => [p.remedy, p.example && `; for example ${p.example}`], 'wide']], rows.slice(0, 50), 'No partition stands out.')];
    })].flat(2);
}

const views = { overview: ['Overview', overview, true], tables: ['Tables', (name) => (name ? browse(name) : tables()), false], indexes: ['Indexes', indexes, true],
    transactions: ['Transactions', (id) => (id ? transaction(id) : transactions()), false], 'dead-letters': ['Dead letters', deadLetters, false], hot: ['Hot partitions', hot, true] };

// ---- showing ----

const at = (id) => document.getElementById(id);

function say(what) {
    const text = what instanceof CallError ? `${what.reason || what.code}: ${what.message}` : what instanceof Error ? what.message : what;
    at('notice').textContent = text;
    at('notice').hidden = !text;
}

function askForToken(why) {
    const go = ({ given }) => {
        token = given.trim();
        say('');
        show();
    };
    at('view').replaceChildren(el('h2', {}, 'Who are you?'), el('p', {}, why),
        form([['given', 'Token or shared access signature', { type: 'password', required: true, class: 'grow' }]], 'Show', go),
        el('p', { class: 'faint' }, 'It stays in the memory of this page and is gone when the page is closed. `tavola token create ACCOUNT` makes one.'));
}

function route() {
    const [name, ...rest] = location.hash.replace(/^#\/?/, '').split('/');
    return views[name] ? [name, decodeURIComponent(rest.join('/'))] : ['overview', ''];
}

let shown = 0, timer = 0;

async function show() {
    const [name, argument] = route(), number = ++shown, [title, make, refreshes] = views[name];
    clearTimeout(timer);
    document.title = `${argument || title} - Tavola`;
    at('nav').replaceChildren(...Object.entries(views).map(([key, [text]]) => el('a', { href: `#/${key}`, 'aria-current': key === name ? 'page' : undefined }, text)));
    at('who').replaceChildren(token ? button('Forget the token', () => {
        token = '';
        show();
    }) : '');
    try {
        const content = await make(argument);
        if (number !== shown)
            return;
        at('view').replaceChildren(...content.filter(Boolean));
        at('view').dataset.shown = name;
    } catch (error) {
        if (number !== shown)
            return;
        if (error.code === 'unauthenticated')
            return askForToken(token ? `The token was refused: ${error.message}` : 'This server asks callers for a token.');
        say(error instanceof TypeError ? 'The server does not answer. The page tries again.' : error);
    }
    if (refreshes)
        timer = setTimeout(refresh, REFRESH_MS);
}

// Do not refresh while the user is entering something.
function refresh() {
    if (document.hidden || document.querySelector('dialog') || at('view').contains(document.activeElement))
        timer = setTimeout(refresh, REFRESH_MS);
    else
        show();
}

addEventListener('hashchange', () => {
    say('');
    show().then(() => at('view').focus());
});
show();
