import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Anvil, type AnvilOptions, startAnvil } from './anvil.ts';
import { devAccounts } from './devAccounts.ts';
import { isAlive, startOtherProcess } from '../otherProcess.test-only.ts';

const [alice, bob] = devAccounts.map(({ address }) => address);

let folder: string;
let statePath: string;
let started: Anvil[];

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-anvil-'));
  statePath = path.join(folder, 'anvil.state');
  started = [];
});

afterEach(async () => {
  for (const anvil of started) await anvil.kill();
  await rm(folder, { recursive: true });
  vi.unstubAllEnvs();
});

async function start(options: AnvilOptions = {}): Promise<Anvil> {
  const anvil = await startAnvil(options);
  started.push(anvil);
  return anvil;
}

/**
 * Sends payments, each after the previous one is mined, because anvil puts simultaneous
 * transactions into one block.
 */
async function pay(anvil: Anvil, times = 1): Promise<void> {
  for (let i = 0; i < times; i += 1) {
    const payment = { from: alice, to: bob, value: '0x1' };
    const hash = await anvil.request('eth_sendTransaction', [payment]);
    await expect.poll(() => anvil.request('eth_getTransactionReceipt', [hash])).not.toBeNull();
  }
}

/** Reads the data that must be the same after a restart. */
async function snapshot(anvil: Anvil, newest: number): Promise<unknown> {
  const blocks = [];
  for (let blockNumber = 0; blockNumber <= newest; blockNumber += 1) {
    const tag = `0x${blockNumber.toString(16)}`;
    blocks.push({
      block: await anvil.request('eth_getBlockByNumber', [tag, true]),
      receipts: await anvil.request('eth_getBlockReceipts', [tag]),
    });
  }
  return {
    blocks,
    logs: await anvil.request('eth_getLogs', [{ fromBlock: '0x0', toBlock: 'latest' }]),
    balance: await anvil.request('eth_getBalance', [bob, 'latest']),
    nonce: await anvil.request('eth_getTransactionCount', [alice, 'latest']),
  };
}

async function savedHead(file: string): Promise<number> {
  try {
    const dump = JSON.parse(gunzipSync(await readFile(file)).toString()) as {
      best_block_number: number;
    };
    return dump.best_block_number;
  } catch {
    return -1; // Not saved yet
  }
}

describe('a running anvil', () => {
  test('serves the requested chain id over HTTP on its own port', async () => {
    const [one, two] = [await start({ chainId: 4242 }), await start()];
    expect(await one.request('eth_chainId')).toBe('0x1092');
    expect(await two.request('eth_chainId')).toBe('0x7a69');
    expect(one.port).not.toBe(two.port);
    expect(await one.request('eth_accounts')).toEqual(devAccounts.map(({ address }) => address));
  });

  test('mines a block for each transaction without a block time', async () => {
    const anvil = await start();
    await pay(anvil);
    expect(await anvil.request('eth_blockNumber')).toBe('0x1');
  });

  test('mines without transactions with a block time', async () => {
    const anvil = await start({ blockTimeSeconds: 1 });
    await expect.poll(() => anvil.request('eth_blockNumber'), { timeout: 5_000 }).toBe('0x2');
  });

  test('listens on the requested port, and reports when it is in use', async () => {
    const { port } = await start();
    await expect(startAnvil({ port })).rejects.toThrow(/anvil did not start: [^]*in use/);
  });

  test('an error names the method and has the error of the node', async () => {
    const anvil = await start();
    const failure = anvil.request('eth_nonsense');
    await expect(failure).rejects.toThrow(/^eth_nonsense: /);
    await expect(failure).rejects.toMatchObject({ cause: { code: -32601 } });
  });

  test('ends on stop, and a second stop does nothing', async () => {
    const anvil = await start();
    await anvil.stop();
    expect(isAlive(anvil.pid)).toBe(false);
    await anvil.stop();
  });

  test('warns if it exits unexpectedly', async () => {
    const warnings: string[] = [];
    const anvil = await start({ onWarning: (warning) => warnings.push(warning) });
    process.kill(anvil.pid, 'SIGKILL');
    await expect.poll(() => warnings).toEqual([`anvil (process ${anvil.pid}) exited unexpectedly`]);
  });

  test('a missing binary is reported with the three places searched', async () => {
    vi.stubEnv('ANVIL_BIN', path.join(folder, 'no-such-anvil'));
    await expect(startAnvil()).rejects.toThrow(/ANVIL_BIN.*@foundry-rs\/anvil-linux-amd64.*PATH/);
  });
});

describe('the tether', () => {
  test('ends anvil when its parent is killed with SIGKILL', async () => {
    const parent = startOtherProcess(`
      const { pid } = await testkit.startAnvil();
      console.log(pid);
    `);
    const anvilPid = await parent.nextLine<number>();
    expect(isAlive(anvilPid)).toBe(true);
    await parent.kill();
    await expect.poll(() => isAlive(anvilPid), { timeout: 5_000 }).toBe(false);
  });

  test('keeps anvil out of the process group of Ctrl-C', async () => {
    const anvil = await start();
    const groupOf = (pid: number) =>
      execFileSync('ps', ['-o', 'pgid=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    expect(groupOf(anvil.pid)).toMatch(/^\d+$/);
    expect(groupOf(anvil.pid)).not.toBe(groupOf(process.pid));
  });
});

describe('a chain with a state path', () => {
  test('is the same after kill -9 of the program and of anvil', async () => {
    const program = startOtherProcess(`
      const anvil = await testkit.startAnvil({ statePath: ${JSON.stringify(statePath)} });
      const { erc20 } = await testkit.deployContracts(anvil);
      const data = '0xa9059cbb' + '${bob?.slice(2)}'.padStart(64, '0') + '1'.padStart(64, '0');
      for (let i = 0; i < 5; i += 1) {
        const transfer = { from: '${alice}', to: erc20, data };
        const hash = await anvil.request('eth_sendTransaction', [transfer]);
        while (!(await anvil.request('eth_getTransactionReceipt', [hash])));
      }
      const head = Number(await anvil.request('eth_blockNumber'));
      console.log(JSON.stringify({ url: anvil.url, pid: anvil.pid, head }));
    `);
    const { url, pid, head } = await program.nextLine<{ url: string; pid: number; head: number }>();
    const before = await snapshot(overHttp(url), head);
    await expect.poll(() => savedHead(statePath), { timeout: 10_000 }).toBeGreaterThanOrEqual(head);
    await program.kill();
    await expect.poll(() => isAlive(pid), { timeout: 5_000 }).toBe(false);

    const anvil = await start({ statePath });
    expect(await snapshot(anvil, head)).toEqual(before);
    expect((before as { logs: unknown[] }).logs.length).toBeGreaterThanOrEqual(5);
    await pay(anvil);
    expect(await anvil.request('eth_blockNumber')).toBe(`0x${(head + 1).toString(16)}`);
  });

  test('is saved completely by stop, in two files', async () => {
    for (const head of [3, 6]) {
      const anvil = await start({ statePath });
      await pay(anvil, 3);
      expect(await anvil.request('eth_blockNumber')).toBe(`0x${head}`);
      await anvil.stop();
      expect(await savedHead(statePath)).toBe(head);
    }
    expect((await readdir(folder)).sort()).toEqual(['anvil.state', 'anvil.state.previous']);
  });

  test('continues from the previous save if the newest is truncated', async () => {
    await saveTwice();
    await writeFile(statePath, (await readFile(statePath)).subarray(0, 500));
    const warnings: string[] = [];
    const anvil = await start({ statePath, onWarning: (warning) => warnings.push(warning) });
    expect(await anvil.request('eth_blockNumber')).toBe('0x1');
    expect(warnings).toEqual([
      expect.stringContaining(`Couldn't load the chain's state from ${statePath}: `),
      `The chain continues from the previous save, ${statePath}.previous`,
    ]);
  });

  test('continues from the previous save if anvil rejects the newest', async () => {
    await saveTwice();
    // Valid gzip and JSON, but not a state.
    await writeFile(statePath, gzipSync('{"blocks":[],"best_block_number":0}'));
    const warnings: string[] = [];
    const anvil = await start({ statePath, onWarning: (warning) => warnings.push(warning) });
    expect(await anvil.request('eth_blockNumber')).toBe('0x1');
    expect(warnings[0]).toContain('anvil did not start');
  });

  test('starts over with a warning if no save can be loaded', async () => {
    await writeFile(statePath, 'rubbish');
    const warnings: string[] = [];
    const anvil = await start({ statePath, onWarning: (warning) => warnings.push(warning) });
    expect(await anvil.request('eth_blockNumber')).toBe('0x0');
    expect(warnings.at(-1)).toBe('The chain starts over at block 0, without contracts');
  });

  test('stays one chain from block 0 through many restarts', async () => {
    const genesis = new Set<string | undefined>();
    for (let restart = 1; restart <= 6; restart += 1) {
      const anvil = await start({ statePath });
      genesis.add((await hashesOf(anvil, [0]))[0]);
      await pay(anvil, 2);
      expect(await anvil.request('eth_blockNumber')).toBe(`0x${(restart * 2).toString(16)}`);
      await anvil.stop();
    }
    expect(genesis.size).toBe(1);

    const anvil = await start({ statePath });
    const blocks = await Promise.all(
      Array.from({ length: 13 }, (_, number) =>
        anvil.request<{ hash: string; parentHash: string }>('eth_getBlockByNumber', [
          `0x${number.toString(16)}`,
          false,
        ]),
      ),
    );
    for (const [number, block] of blocks.entries()) {
      if (number > 0) expect(block.parentHash).toBe(blocks[number - 1]?.hash);
    }
  });

  test('restarts with its newest blocks and its first', async () => {
    const first = await start({ statePath });
    await first.request('anvil_mine', ['0x12c']);
    const hashes = await hashesOf(first, [0, 199, 200, 201, 300]);
    await first.stop();

    const second = await start({ statePath, keepBlocks: 100 });
    const [genesis, , dropped, kept, head] = await hashesOf(second, [0, 199, 200, 201, 300]);
    expect([genesis, kept, head]).toEqual([hashes[0], hashes[3], hashes[4]]);
    expect(dropped).toBeUndefined();
    await pay(second);
    expect(await second.request('eth_blockNumber')).toBe('0x12d');
  });

  async function saveTwice(): Promise<void> {
    for (let save = 0; save < 2; save += 1) {
      const anvil = await start({ statePath });
      await pay(anvil);
      expect(await anvil.request('eth_blockNumber')).toBe(`0x${save + 1}`);
      await anvil.stop();
    }
  }
});

async function hashesOf(anvil: Anvil, blockNumbers: number[]): Promise<(string | undefined)[]> {
  return Promise.all(
    blockNumbers.map(async (blockNumber) => {
      const params = [`0x${blockNumber.toString(16)}`, false];
      const block = await anvil.request<{ hash: string } | null>('eth_getBlockByNumber', params);
      return block?.hash;
    }),
  );
}

/** Connects to an anvil that another process started. */
function overHttp(url: string): Anvil {
  const request = async (method: string, params: readonly unknown[] = []) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, { method: 'POST', headers, body });
    return ((await response.json()) as { result: unknown }).result;
  };
  return { request } as Anvil;
}
