/** Tests the output for a chain with unverified blocks, and for what streams hold. */
import { UNVERIFIED_CODES } from '@sluice/kit/sluice';
import { scripted, until } from '@sluice/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ALICE, BOB, TOKEN, type World, startWorld } from './world.test-only.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld(['--settle', '1']);
});
afterAll(() => world.stop());

/** Undoes the line breaks and the padding of an output. */
const unwrapped = (output: string): string => output.replaceAll(/\s+/g, ' ');

/** Mines a block in which a transaction has no receipt, and waits until it is read. Returns its number. */
async function mineUnverified(): Promise<number> {
  world.chain.trouble({ kind: 'truncatedReceipts' });
  world.chain.trouble({ kind: 'nullReceipts', methods: ['eth_getTransactionReceipt'] });
  const transfer = (value: bigint) =>
    scripted.erc20Transfer({ token: TOKEN, from: ALICE, to: BOB, value });
  const { number } = world.chain.mine({ transactions: [transfer(7n), transfer(8n)] });
  await until('the block is read', async () =>
    (await world.client.listChains()).some(({ checkpoint }) => checkpoint === Number(number)),
  );
  return Number(number);
}

const createStream = (tag: string, ...flags: string[]) =>
  world.sluice([
    ...['streams', 'create', '--tag', tag, '--url', world.sink.url, '--chain', '0x7a69'],
    ...[
      '--logs',
      '--native',
      '--all-addresses',
      '--event',
      'Transfer(address,address,uint256)',
      ...flags,
    ],
  ]);

test('chains list counts unverified blocks and explains their codes', async () => {
  expect((await world.sluice(['chains', 'list'])).stdout).not.toContain('unverified');
  await createStream('pay');
  const latest = await mineUnverified();
  const { stdout } = await world.sluice(['chains', 'list']);
  expect(unwrapped(stdout)).toContain(
    `unverified blocks: 1, latest ${latest} receipts 1 ${UNVERIFIED_CODES.receipts.meaning}`,
  );
  const { stdout: json } = await world.sluice(['chains', 'list', '--json']);
  expect(JSON.parse(json)).toMatchObject([
    { unverified: { blocks: 1, latest, byCode: { receipts: 1 } } },
  ]);
});

test('deliveries release sends what a stream holds, marked', async () => {
  await createStream('careful', '--unverified', 'hold');
  const number = await mineUnverified();
  const ofStream = async () => {
    const streams = await world.client.listStreamSummaries();
    const { id } = streams.find(({ tag }) => tag === 'careful')!;
    return (await world.client.listDeliveries({ streamId: id })).result;
  };
  const [held] = await ofStream();
  expect(held).toMatchObject({ state: 'held', blockNumber: number });
  const { stdout: shown } = await world.sluice(['deliveries', 'get', held!.id]);
  expect(unwrapped(shown)).toContain(`receipts: ${UNVERIFIED_CODES.receipts.meaning}`);
  const { stdout: explained } = await world.sluice(['explain', held!.id, '--stages']);
  expect(unwrapped(explained)).toContain('unconfirmed: held until another node confirms the block');
  expect(unwrapped(explained)).toContain('accepted unverified. receipts: ');

  const { stdout } = await world.sluice(['deliveries', 'release', held!.id]);
  expect(stdout).toBe(`${held!.id} is released: unconfirmed, block ${number}\n`);
  await until('the webhook arrives', () =>
    Promise.resolve(world.sink.requests.some(({ id }) => id === held!.id)),
  );
  const { headers } = world.sink.requests.find(({ id }) => id === held!.id)!;
  expect(headers['x-sluice-unverified']).toBe('receipts');
  const again = await world.sluice(['deliveries', 'release', held!.id]);
  expect(again.stderr).toContain('Only a held delivery can be released');
  const { result: audited } = await world.client.listAudit();
  expect(audited).toContainEqual(expect.objectContaining({ target: held!.id }));
});
