/** Tests the import of rules of other products: the written file, and the reported differences. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readStreamFile } from '../streams/streamFile.ts';
import { type Run, sluice } from '../terminal/scripted.test-only.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluice-imports-'));
afterAll(() => rmSync(folder, { recursive: true }));

const URL = 'https://example.com/hook';
const TOKEN = `0x${'aa'.repeat(20)}`;
const NFT = `0x${'bb'.repeat(20)}`;

const input = (type: string, name: string, indexed?: boolean) =>
  indexed === undefined ? { name, type } : { name, type, indexed };
const PAID = {
  type: 'event',
  name: 'Paid',
  inputs: [input('address', 'payee', true), input('uint256', 'amount', false)],
};
const PAY = {
  type: 'function',
  name: 'pay',
  inputs: [input('address', 'payee'), input('uint256', 'amount')],
};

function write(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}
const network = write('main.json', { network_type: 'EVM', slug: 'main', chain_id: 1 });

interface Imported {
  run: Run;
  /** Lines about parts that are not imported, without the file and the rule. */
  notes: string[];
  streams: ReturnType<typeof readStreamFile>;
}

async function importFiles(
  product: string,
  files: string[],
  flags: string[] = [],
): Promise<Imported> {
  const run = await sluice(['import', product, ...files, ...flags], { cwd: folder });
  const output = write('out.yaml', run.stdout);
  const notes = [...run.stderr.matchAll(/^! \S+: [^:]+: (.*)$/gm)].map(([, note = '']) => note);
  // Each line is also a comment in the file, unless no stream was written.
  for (const note of run.stdout === '' ? [] : notes) {
    expect(run.stdout).toContain(`# not imported: ${note}\n`);
  }
  return { run, notes, streams: run.stdout === '' ? [] : readStreamFile(output) };
}

const importMonitor = (monitor: object): Promise<Imported> =>
  importFiles(
    'openzeppelin',
    [
      write('monitor.json', {
        name: 'Paid',
        networks: ['main'],
        addresses: [{ address: TOKEN, contract_spec: [PAID, PAY] }],
        match_conditions: {},
        ...monitor,
      }),
      network,
    ],
    ['--url', URL],
  );
const importWebhook = (webhook: object, flags?: string[]): Promise<Imported> =>
  importFiles('thirdweb', [write('webhook.json', webhook)], flags);

test('a monitor becomes a stream that apply accepts', async () => {
  const { run, streams } = await importMonitor({
    paused: false,
    match_conditions: {
      functions: [{ signature: 'pay(address, uint256)', expression: 'amount >= 1000' }],
      events: [{ signature: 'Paid(address,uint256)', expression: `payee != ${NFT}` }],
      transactions: [{ status: 'Success', expression: null }],
    },
    trigger_conditions: [],
    triggers: ['my_webhook'],
  });
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(streams).toEqual([
    {
      tag: 'Paid',
      addresses: [{ address: TOKEN }],
      fields: {
        tag: 'Paid',
        description: 'Imported from monitor.json',
        webhookUrl: URL,
        chainIds: ['0x1'],
        includeContractLogs: true,
        abi: [PAID],
        advancedOptions: [
          {
            function: 'pay(address payee, uint256 amount)',
            filter: { gte: ['amount', '1000'] },
            transactionStatus: 'success',
          },
          {
            topic0: 'Paid(address,uint256)',
            filter: {
              and: [{ eq: ['moralis_streams_contract_address', TOKEN] }, { ne: ['payee', NFT] }],
            },
          },
        ],
      },
    },
  ]);
});

test('further receivers of a monitor are reported', async () => {
  const { notes } = await importMonitor({
    match_conditions: { functions: [{ signature: 'pay(address,uint256)' }] },
    triggers: ['my_webhook', 'my_email'],
  });
  expect(notes).toEqual([expect.stringContaining('triggers: the 2 receivers become the one')]);
});

test('contracts whose ABIs differ get a filter each', async () => {
  const other = { ...PAY, inputs: [input('address', 'to'), input('uint256', 'amount')] };
  const { notes, streams } = await importMonitor({
    addresses: [
      { address: TOKEN, contract_spec: [PAY] },
      { address: NFT, contract_spec: [other] },
    ],
    match_conditions: {
      functions: [{ signature: 'pay(address,uint256)', expression: `to == ${NFT}` }],
    },
  });
  expect(notes).toEqual([
    `match_conditions.functions.0.expression: to == ${NFT}: pay(address,uint256) has no to`,
  ]);
  const only = (address: string) => ({ eq: ['moralis_streams_contract_address', address] });
  expect(streams[0]?.fields['advancedOptions']).toMatchObject([
    { function: 'pay(address payee, uint256 amount)', filter: only(TOKEN) },
    {
      function: 'pay(address to, uint256 amount)',
      filter: { and: [only(NFT), { eq: ['to', NFT] }] },
    },
  ]);
});

test.each<[expression: string, notes: string[], filter: object | undefined]>([
  ['amount > 1 AND amount < 5', [], { and: [{ gt: ['amount', '1'] }, { lt: ['amount', '5'] }] }],
  [
    'amount>0x10 or (amount == 1 and amount != 2)',
    [],
    { or: [{ gt: ['amount', '16'] }, { and: [{ eq: ['amount', '1'] }, { ne: ['amount', '2'] }] }] },
  ],
  [`payee == '${NFT.slice(2).toUpperCase()}'`, [], { eq: ['payee', NFT] }],
  ['gas > 1 AND amount > 1', ['gas > 1: pay(address,uint256) has no gas'], { gt: ['amount', '1'] }],
  [
    'amount > 1 OR payee contains "0xaa"',
    [
      'payee contains "0xaa": filters have no contains',
      'amount > 1 OR payee contains "0xaa": an alternative is not checked',
    ],
    undefined,
  ],
  [
    'amount[0].x == 1',
    ['amount[0].x == 1: filters cannot read parts of arrays and tuples'],
    undefined,
  ],
  ['amount > 1.5', ['amount > 1.5: amount should be compared with an integer'], undefined],
  ['payee > 5', ['payee > 5: payee is not a number, so filters cannot order it'], undefined],
  ['amount >', ['ends in the middle of a comparison'], undefined],
  ['amount = 1', ['has an unexpected "= 1"'], undefined],
  ['amount > 1)', ['has an unexpected ")"'], undefined],
  ['(amount > 1', ['has an unclosed parenthesis'], undefined],
  ["payee == 'a", ['has an unexpected "\'a"'], undefined],
  [
    `${'('.repeat(15)}amount > 1${')'.repeat(15)}`,
    ['has more than 14 nested parentheses'],
    undefined,
  ],
  ['('.repeat(90_000), ['has more than 14 nested parentheses'], undefined],
  ['a'.repeat(2 ** 20), ['has more than 100000 characters'], undefined],
  [
    `amount > ${'9'.repeat(200)}`,
    [`amount > ${'9'.repeat(70)}…: amount should be compared with an integer`],
    undefined,
  ],
])('expression %# is converted as far as filters go', async (expression, notes, filter) => {
  const imported = await importMonitor({
    match_conditions: { functions: [{ signature: 'pay(address,uint256)', expression }] },
  });
  expect(imported.notes).toEqual(
    notes.map((note) => `match_conditions.functions.0.expression: ${note}`),
  );
  expect(imported.run.code).toBe(notes.length === 0 ? 0 : 8);
  expect(imported.streams[0]?.fields['advancedOptions']).toEqual([
    {
      function: 'pay(address payee, uint256 amount)',
      ...(filter && { filter }),
      transactionStatus: 'any',
    },
  ]);
});

test.each<[monitor: object, notes: string[], streams: number]>([
  [
    { networks: ['other'] },
    ['networks.0: other is unknown: also pass the file of this network'],
    0,
  ],
  [
    { addresses: [] },
    ['addresses: monitors without addresses match nothing', expect.anything()],
    0,
  ],
  [
    { match_conditions: { functions: [{ signature: 'burn()', expression: null }] } },
    ['match_conditions.functions.0.signature: no contract_spec declares burn()'],
    0,
  ],
  [
    {
      match_conditions: {
        events: [{ signature: 'Paid(address,uint256)' }],
        transactions: [{ status: 'Failure' }],
      },
    },
    ['match_conditions.events.0: failed transactions have no events'],
    0,
  ],
  [
    {
      match_conditions: {
        events: [{ signature: 'Paid(address,uint256)' }],
        transactions: [{ status: 'Any', expression: 'value > 1' }],
      },
    },
    ['match_conditions.events.0: filters of events cannot check match_conditions.transactions'],
    1,
  ],
  [
    { match_conditions: { transactions: [{ status: 'Failure', expression: 'gas_price > 1' }] } },
    [
      'match_conditions.transactions.0.expression: gas_price > 1: filters cannot read gas_price',
      expect.stringMatching(/^match_conditions: only transactions to the addresses match\./),
    ],
    1,
  ],
  [
    {
      paused: true,
      trigger_conditions: [{ script_path: 'a.sh' }],
      chain_configurations: [{ a: 1 }],
    },
    [
      expect.anything(),
      'paused: after apply, pause the stream with sluice streams pause',
      'trigger_conditions: run these scripts in your webhook handler',
      'chain_configurations: streams have no such field',
    ],
    1,
  ],
])(
  'each part of a monitor without an equivalent is reported: %j',
  async (monitor, notes, count) => {
    const imported = await importMonitor(monitor);
    expect(imported.run.code).toBe(8);
    expect(imported.notes).toEqual(notes);
    expect(imported.streams).toHaveLength(count);
  },
);

test('text of a rule cannot leave its comment', async () => {
  const monitor = write('monitor.json', {
    name: 'Paid\n  - tag: other',
    networks: ['main'],
    addresses: [{ address: TOKEN, contract_spec: [PAY] }],
    match_conditions: {
      functions: [
        {
          signature: 'pay(address,uint256)',
          expression: "x == '\n- tag: b\r- tag: c\u0085- tag: d\u2028- tag: e'",
        },
      ],
    },
  });
  const args = ['import', 'openzeppelin', monitor, network, '--url', URL, '-o', 'own.yaml'];
  const { code, stdout, stderr } = await sluice(args, { cwd: folder });
  expect([code, stdout]).toEqual([8, '']);
  expect(stderr).toMatch(/^Wrote 1 stream to own\.yaml\n! \S+: Paid/);
  const streams = readStreamFile(join(folder, 'own.yaml'));
  expect(streams.map(({ tag }) => tag)).toEqual(['Paid\n  - tag: other']);
});

test('a webhook of thirdweb becomes a stream', async () => {
  const { run, streams } = await importWebhook({
    name: 'Paid',
    webhook_url: URL,
    filters: {
      'v1.transactions': {
        chain_ids: ['1', '137'],
        from_addresses: [NFT],
        addresses: [TOKEN],
        signatures: [
          { sig_hash: '0xc4076876', abi: JSON.stringify(PAY), params: { amount: 5, payee: NFT } },
        ],
      },
      'v1.events': {
        chain_ids: ['1'],
        addresses: [TOKEN],
        signatures: [
          { sig_hash: 'Paid(address,uint256)', abi: JSON.stringify([PAID]), params: [] },
        ],
      },
    },
  });
  expect(run.code).toBe(8);
  expect(run.stderr).toContain(
    'filters.v1.transactions.from_addresses: only transactions from these to to_addresses match',
  );
  expect(streams).toMatchObject([
    {
      tag: 'Paid v1.transactions',
      addresses: [{ address: TOKEN }],
      fields: {
        webhookUrl: URL,
        chainIds: ['0x1', '0x89'],
        advancedOptions: [
          {
            function: 'pay(address payee, uint256 amount)',
            filter: {
              and: [
                { eq: ['sluice_sender', NFT] },
                { eq: ['amount', '5'] },
                { eq: ['payee', NFT] },
              ],
            },
            transactionStatus: 'any',
          },
        ],
      },
    },
    {
      tag: 'Paid v1.events',
      addresses: [{ address: TOKEN }],
      fields: {
        includeContractLogs: true,
        abi: [PAID],
        advancedOptions: [{ filter: { eq: ['moralis_streams_contract_address', TOKEN] } }],
      },
    },
  ]);
});

test.each<[filters: object, notes: string[], fields: object | undefined]>([
  [
    { 'v1.transactions': { chain_ids: ['1'], to_addresses: [TOKEN] } },
    [],
    { advancedOptions: [{ function: '*', transactionStatus: 'any' }] },
  ],
  [
    { 'v1.transactions': { chain_ids: ['1'], from_addresses: [TOKEN] } },
    ['filters.v1.transactions.from_addresses: transactions to these addresses match, too'],
    { includeNativeTxs: true },
  ],
  [
    {
      'v1.transactions': {
        chain_ids: ['1'],
        signatures: [{ sig_hash: '0x12345678', params: { a: 1 } }],
      },
    },
    ['filters.v1.transactions.signatures.0.params.a: abi does not declare the signature'],
    { allAddresses: true, advancedOptions: [{ function: '0x12345678', transactionStatus: 'any' }] },
  ],
  [
    { 'v1.events': { chain_ids: ['1'], addresses: [TOKEN] } },
    [
      'filters.v1.events: without signatures, logs of other contracts that name an address in a topic match, too',
    ],
    { includeContractLogs: true },
  ],
  [
    { 'v1.events': { chain_ids: ['x'], signatures: [{ sig_hash: '0x12' }] } },
    [
      'filters.v1.events.chain_ids.0: this is not a chain ID',
      'filters.v1.events.chain_ids: a stream needs at least one chain',
      'filters.v1.events.signatures.0.sig_hash: this is not the hash of an event',
      'filters.v1.events: a stream needs an event or an address',
    ],
    undefined,
  ],
  [{ 'v2.blocks': {} }, ['filters.v2.blocks: streams have no such topic'], undefined],
])(
  'each part of a webhook without an equivalent is reported: %j',
  async (filters, notes, fields) => {
    const imported = await importWebhook({ filters }, ['--url', URL]);
    expect(imported.notes).toEqual(notes);
    expect(imported.streams.map((stream) => stream.fields)).toEqual(
      fields === undefined
        ? []
        : [
            {
              tag: 'webhook',
              description: 'Imported from webhook.json',
              webhookUrl: URL,
              chainIds: ['0x1'],
              ...fields,
            },
          ],
    );
  },
);

test('webhooks are also read from the response that lists them', async () => {
  const filters = { 'v1.transactions': { chain_ids: ['1'], to_addresses: [TOKEN] } };
  const webhook = { filters, webhook_url: URL };
  const { run, notes, streams } = await importWebhook({
    data: [webhook, { ...webhook, name: 'b', disabled: true }],
  });
  expect(notes).toEqual([
    'data.1.disabled: after apply, pause the stream with sluice streams pause',
  ]);
  expect([run.code, streams.map(({ tag }) => tag)]).toEqual([8, ['webhook data 0', 'b']]);
});

test.each<[product: string, content: unknown, message: RegExp]>([
  ['openzeppelin', '{', /rule\.json: Expected property name/],
  ['openzeppelin', [], /rule\.json: the content should be an object/],
  ['openzeppelin', {}, /neither a monitor[^]*fix: pass the files of config\/monitors/],
  ['openzeppelin', { match_conditions: {} }, /rule\.json: name should be text/],
  ['openzeppelin', { match_conditions: [] }, /rule\.json: match_conditions should be an object/],
  [
    'openzeppelin',
    { name: 'a', networks: 'main', match_conditions: {} },
    /rule\.json: networks should be a list/,
  ],
  [
    'openzeppelin',
    { network_type: 'EVM', slug: 'other', chain_id: 2 },
    /The files contain no rules/,
  ],
  ['openzeppelin', String.raw`{"name":"\ud800"}`, /rule\.json: text has half of a surrogate pair/],
  ['openzeppelin', '['.repeat(2 ** 20), /rule\.json: /],
  ['openzeppelin', ' '.repeat(17 * 2 ** 20), /rule\.json: the file is larger than 16 MiB/],
  ['thirdweb', { filters: {} }, /rule\.json: webhook_url is missing[^]*fix: .*--url/],
  ['thirdweb', { filters: {}, webhook_url: URL }, /rule\.json: filters is empty/],
  ['thirdweb', { data: [7] }, /rule\.json: data\.0 should be an object/],
  [
    'thirdweb',
    { webhook_url: URL, filters: { 'v1.events': { addresses: ['0x1'] } } },
    /rule\.json: filters\.v1\.events\.addresses\.0 should be an address/,
  ],
  [
    'thirdweb',
    { webhook_url: 'x', filters: { 'v1.events': { chain_ids: ['1'], addresses: [TOKEN] } } },
    /rule\.json: rule: webhookUrl: should be an absolute/,
  ],
])('invalid file %# is rejected, of %s', async (product, content, message) => {
  const flags = product === 'openzeppelin' ? [network, '--url', URL] : [];
  const { run } = await importFiles(product, [write('rule.json', content)], flags);
  expect([run.code, run.stdout]).toEqual([2, '']);
  expect(run.stderr).toMatch(message);
});

test('monitors need the webhook URL', async () => {
  const { run } = await importFiles('openzeppelin', [network]);
  expect(run.code).toBe(2);
  expect(run.stderr).toMatch(/Missing --url[^]*fix: pass the webhook URL/);
});

test('two rules of one name are rejected, because streams are identified by tag', async () => {
  const filters = { 'v1.transactions': { chain_ids: ['1'], to_addresses: [TOKEN] } };
  const both = ['a.json', 'b.json'].map((file) =>
    write(file, { name: 'a', webhook_url: URL, filters }),
  );
  const { run } = await importFiles('thirdweb', both);
  expect(run.code).toBe(2);
  expect(run.stderr).toMatch(/b\.json: \S+a\.json also has a rule with the name a[^]*fix: rename/);
});
