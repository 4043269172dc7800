/** Tests the search for forks, on scripted nodes behind a proxy that changes their responses. */
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { keccak256 } from '@sluice/kit/contract';
import { type RunningScriptedChain, scripted, startScriptedChain } from '@sluice/testkit';
import { afterEach, describe, expect, test } from 'vitest';
import { listKnownFields } from '../../packages/service/src/families/evm/ingest/layout/headerFields.ts';
import { encodeRlp } from '../../packages/service/src/families/evm/ingest/proof/rlp.ts';
import { watchForks } from '../../scripts/networks/forks.ts';

type Json = Record<string, unknown>;
type Change = (result: Json, method: string) => unknown;

const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

async function startChain(chainId = 11_155_111): Promise<RunningScriptedChain> {
  const chain = await startScriptedChain({ chainId });
  closing.push(() => chain.stop());
  const to = `0x${'bb'.repeat(20)}` as const;
  const token = `0x${'cc'.repeat(20)}` as const;
  for (let n = 0; n < 3; n++) {
    const logs = [{ address: token, topics: [`0x${'dd'.repeat(32)}`] as const }];
    chain.mine({ transactions: [{ to, logs }, scripted.transfer({ from: to, to, value: 1n })] });
  }
  return chain;
}

/** Starts a node that changes the results of the chain. */
async function startNode(chain: RunningScriptedChain, change: Change): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks).toString();
      const answer = (await (await fetch(chain.url, { method: 'POST', body })).json()) as Json;
      const { method } = JSON.parse(body) as { method: string };
      const result = change(answer['result'] as Json, method);
      response.end(JSON.stringify({ ...answer, result }));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const ofBlocks =
  (change: (block: Json) => Json): Change =>
  (result, method) =>
    method === 'eth_getBlockByNumber' ? change(result) : result;
const ofReceipts =
  (change: (receipt: Json) => Json): Change =>
  (result, method) =>
    method === 'eth_getBlockReceipts' ? (result as unknown as Json[]).map(change) : result;
const SEPOLIA = '0xaa36a7';

describe('a search for forks', () => {
  test('finds nothing in blocks that are understood', async () => {
    const { url } = await startChain();
    const report = await watchForks([{ chain: SEPOLIA, url }], 2);
    expect(report).toEqual({
      text: '## Sepolia 0xaa36a7\n\nUnderstood: blocks 2 to 3.',
      exitCode: 0,
    });
  });

  test('names header fields that a fork appended, and the change', async () => {
    const url = await startNode(
      await startChain(),
      ofBlocks((block) => {
        const [first] = listKnownFields(block);
        const fields = [...first!.fields, Buffer.from('ab'.repeat(32), 'hex')];
        const hash = keccak256(encodeRlp(fields));
        return { ...block, hash, forkField: `0x${'ab'.repeat(32)}`, listedOnly: '0x5' };
      }),
    );
    const { text, exitCode } = await watchForks([{ chain: SEPOLIA, url }], 3);
    expect(exitCode).toBe(1);
    expect(text).toContain('In blocks 1 to 3:');
    // The first search finds the layout, which then proves the later blocks.
    expect(text).toContain(
      'The header has unknown fields that a search proves: forkField, listedOnly (block 1; 1 of 3 blocks)',
    );
    expect(text).toMatch(/layout\/headerFields\.ts, others to NOT_HASHED: forkField="0xabab/);
    expect(text).not.toContain('header-hash');
  });

  test('says that no layout was found for a header', async () => {
    const url = await startNode(
      await startChain(),
      ofBlocks((block) => ({ ...block, stateRoot: `0x${'12'.repeat(32)}`, forkField: '0x7' })),
    );
    const { text, exitCode } = await watchForks([{ chain: SEPOLIA, url }], 1);
    expect(exitCode).toBe(1);
    expect(text).toContain('no layout was found: forkField');
    expect(text).toContain('Add a layout to LAYOUTS in');
  });

  test('names a transaction type whose encoding is unknown', async () => {
    const url = await startNode(
      await startChain(),
      ofBlocks((block) => ({
        ...block,
        transactions: (block['transactions'] as Json[]).map((each, n) =>
          n === 1 ? { ...each, type: '0x55' } : each,
        ),
      })),
    );
    const { text, exitCode } = await watchForks([{ chain: SEPOLIA, url }], 3);
    expect(exitCode).toBe(1);
    expect(text).toMatch(
      /type 0x55 is unknown \(block 1; 3 of 3 blocks\)\. Add '0x55' to NETWORK_TYPES/,
    );
  });

  test('names a failed check unless it is a deviation of the network', async () => {
    const change = ofReceipts((receipt) => ({
      ...receipt,
      logs: (receipt['logs'] as Json[]).map((log) => ({ ...log, data: '0x99' })),
    }));
    const sepolia = await startNode(await startChain(), change);
    const polygon = await startNode(await startChain(137), change);
    const { text, exitCode } = await watchForks(
      [
        { chain: SEPOLIA, url: sepolia },
        { chain: '0x89', url: polygon },
        { chain: '0x1', url: 'http://127.0.0.1:1' },
      ],
      3,
    );
    expect(exitCode).toBe(1);
    expect(text).toContain(
      "The check receipts-root failed: the receipts do not match the receipts root (block 1; 3 of 3 blocks). If the network is right, add 'receipts-root' to the deviations",
    );
    expect(text).toContain('## Polygon 0x89\n\nUnderstood: blocks 1 to 3.');
  });

  test('reads receipts one by one from a node without lists', async () => {
    const chain = await startChain();
    chain.trouble({
      kind: 'error',
      methods: ['eth_getBlockReceipts'],
      code: -32601,
      message: 'no',
    });
    expect((await watchForks([{ chain: SEPOLIA, url: chain.url }], 3)).exitCode).toBe(0);
  });

  test('reports a node that it cannot read, without its key', async () => {
    const { url } = await startChain(1);
    const other = await watchForks([{ chain: SEPOLIA, url }], 1);
    expect(other).toEqual({
      text: "## Sepolia 0xaa36a7\n\nCouldn't read the node: the node serves 0x1",
      exitCode: 2,
    });
    const gone = await watchForks([{ chain: SEPOLIA, url: 'http://127.0.0.1:1/SECRET' }], 1);
    expect(gone.exitCode).toBe(2);
    expect(gone.text).not.toContain('SECRET');
  });

  test('ends the program with its exit code', async () => {
    const program = fileURLToPath(new URL('../../scripts/networks/watchForks.ts', import.meta.url));
    const run = async (...args: string[]): Promise<{ code: unknown; output: string }> => {
      const command = ['-C', '@sluice/source', program, ...args];
      return promisify(execFile)(process.execPath, command).then(
        ({ stdout }) => ({ code: 0, output: stdout }),
        (error: { code: unknown; stdout: string; stderr: string }) => ({
          code: error.code,
          output: error.stdout + error.stderr,
        }),
      );
    };
    const { url } = await startChain();
    expect(await run('--chain', `${SEPOLIA}=${url}`, '--blocks', '2')).toEqual({
      code: 0,
      output: '## Sepolia 0xaa36a7\n\nUnderstood: blocks 2 to 3.\n',
    });
    expect((await run('--chain', `0x1=${url}`)).code).toBe(2);
    expect(await run()).toMatchObject({ code: 2 });
    expect((await run('--chain', 'sepolia')).output).toContain('is not a chain ID and a URL');
  });
});
