import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { readSavedStates, saveState, startSavingState } from './anvilState.ts';
import { startOtherProcess } from '../otherProcess.test-only.ts';

let folder: string;
let statePath: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-state-'));
  statePath = path.join(folder, 'anvil.state');
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

const dumpOf = (head: number) => gzipSync(JSON.stringify({ best_block_number: head, blocks: [] }));
const headIn = async (file: string) =>
  (JSON.parse(gunzipSync(await readFile(file)).toString()) as { best_block_number: number })
    .best_block_number;

test(
  'a complete save remains whenever the saving program is killed',
  { timeout: 60_000 },
  async () => {
    const module = JSON.stringify(new URL('anvilState.ts', import.meta.url).href);
    for (let round = 0; round < 8; round += 1) {
      const program = startOtherProcess(`
      const { saveState } = await import(${module});
      const { gzipSync } = await import('node:zlib');
      const { randomBytes } = await import('node:crypto');
      // Large enough that most of the time goes into writing.
      const padding = randomBytes(4_000_000).toString('base64');
      const dump = gzipSync(JSON.stringify({ best_block_number: 1, blocks: [], padding }), { level: 1 });
      for (let save = 1; ; save += 1) {
        await saveState(${JSON.stringify(statePath)}, dump);
        console.log(save);
      }
    `);
      // The program prints a line after each save, so it has started the next save or is about to
      // start it.
      while ((await program.nextLine<number>()) < 2 + round);
      await program.kill();

      const unreadable: string[] = [];
      const saves = readSavedStates(statePath, 100, (file) => unreadable.push(file));
      const { value: newest } = await saves.next();
      expect(newest, 'no readable save').toBeDefined();
      expect(unreadable).toEqual([]);
    }
  },
);

test('the previous save is kept', async () => {
  for (const head of [1, 2, 3]) await saveState(statePath, dumpOf(head));
  expect(await headIn(statePath)).toBe(3);
  expect(await headIn(`${statePath}.previous`)).toBe(2);
  expect(await readdir(folder)).toHaveLength(2);
});

test('the state is saved every second, less often if dumps are slow, and again after a failure', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  let nowMs = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  let dumps = 0;
  let dumpTakesMs = 0;
  const failures: string[] = [];
  const saver = startSavingState({
    statePath,
    readDump: () => {
      dumps += 1;
      nowMs += dumpTakesMs;
      return dumps === 2
        ? Promise.reject(new Error('anvil is busy'))
        : Promise.resolve(dumpOf(dumps));
    },
    onFailure: ({ message }) => failures.push(message),
  });
  const pass = async (ms: number) => {
    await vi.advanceTimersByTimeAsync(ms);
    // Waits until the next save is scheduled. `vi.waitFor` would advance the fake clock.
    while (vi.getTimerCount() === 0) await new Promise(setImmediate);
  };
  await pass(1_000);
  expect(dumps).toBe(1);
  await pass(1_000);
  expect([dumps, failures]).toEqual([2, ['anvil is busy']]);
  dumpTakesMs = 500;
  await pass(1_000);
  expect(dumps).toBe(3);
  await pass(4_999);
  expect(dumps).toBe(3);
  await pass(1);
  expect(dumps).toBe(4);

  await saver.stop();
  expect(await headIn(statePath)).toBe(5);
  expect(vi.getTimerCount()).toBe(0);
  clock.mockRestore();
});

test('abandon also discards a save in progress', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const dump = Promise.withResolvers<Buffer>();
  const failures: Error[] = [];
  const saver = startSavingState({
    statePath,
    readDump: () => dump.promise,
    onFailure: (error) => failures.push(error),
  });
  await vi.advanceTimersByTimeAsync(1_000);
  saver.abandon();
  dump.reject(new Error('killed'));
  await vi.advanceTimersByTimeAsync(60_000);
  expect([await readdir(folder), failures, vi.getTimerCount()]).toEqual([[], [], 0]);
});
