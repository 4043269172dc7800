/** Tests commands on pseudo-terminals of 80 and 120 columns, with wide and hostile names. */
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { columnsOf } from '../terminal/columns.test-only.ts';
import {
  CLEARED,
  type PseudoTerminal,
  startOnTerminal,
} from '../terminal/pseudoTerminal.test-only.ts';
import { type World, startWorld } from './world.test-only.ts';

/** A name with wide characters, a combining mark and an emoji. */
const CJK = '財務部の支払いと入金を監視するストリーム📦e\u0301'.repeat(3);
/**
 * A name that clears the screen, sets the clipboard, changes the text direction and forges a line.
 */
const HOSTILE = 'a\u001b[2J\u001b]52;c;cm0=\u0007\u009b31m\u202e\r\n✓ forged';

/**
 * Control sequences that Sluice itself writes: colors, and for `listen` the alternate screen and
 * the cursor.
 */
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const OURS = /\u001b\[(?:\d*m|\?1049[hl]|\?25[hl])/g;
// oxlint-disable-next-line no-control-regex -- the pattern matches control characters
const CONTROLS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

let world: World;
let names: Record<string, string>;
const commands: PseudoTerminal[] = [];

beforeAll(async () => {
  world = await startWorld();
  world.sink.respond({ status: 500, body: `TypeError: ${'読み込めません '.repeat(20)}` });
  const stream = {
    webhookUrl: `${world.sink.url}/${encodeURIComponent('支払い')}?token=abc`,
    description: CJK,
    includeContractLogs: true,
    allAddresses: true,
    topic0: ['Transfer(address,address,uint256)'],
    abi: [],
  };
  await world.api.streams.create({ ...stream, tag: CJK, chainIds: ['0x7a69', '0x1'] });
  await world.api.streams.create({ ...stream, tag: HOSTILE, chainIds: ['0x7a69', '0x89'] });
  world.pay(5n);
  const delivery = await until('a delivery has failed', async () =>
    (await world.client.listDeliveries()).result.find(({ status }) => status === 500),
  );
  names = { DELIVERY: delivery.id, CJK, HOSTILE, SINK: new URL(world.sink.url).host };
});
afterAll(async () => {
  for (const command of commands) command.kill();
  await world.stop();
});

function start(command: string, columns: number): PseudoTerminal {
  const args = command
    .split(' ')
    .map((word) => word.replace(/^[A-Z]+/, (name) => names[name] ?? name));
  const { folder: cwd, env } = world;
  const started = startOnTerminal(args, { columns, cwd, env: { ...env, XDG_CONFIG_HOME: cwd } });
  commands.push(started);
  return started;
}

/** Returns the lines without Sluice's control sequences. For `listen`, includes all screens. */
const linesOf = (written: string): string[] =>
  written.replaceAll('\r\n', '\n').replaceAll(CLEARED, '\n').replaceAll(OURS, '').split('\n');

/** Returns the lines that are too wide and have more than one word. */
const tooWide = (lines: readonly string[], columns: number): string[] =>
  lines.filter((line) => columnsOf(line) > columns && /\S\s+\S/.test(line));

describe.each([80, 120])('%i columns', (columns) => {
  test.each<[command: string, code: number]>([
    ['--help', 0],
    ['streams create --help', 0],
    ['docs concepts', 0],
    ['streams list', 0],
    ['streams get CJK', 0],
    ['deliveries list', 0],
    ['deliveries get DELIVERY', 0],
    ['explain DELIVERY --stages', 0],
    ['chains list', 0],
    ['doctor', 9],
    ['streams create --url nowhere --tag CJK', 5],
    ['streams get HOSTILE-of-none', 4],
    ['listen HOSTILE', 2],
  ])('%s', async (command, code) => {
    const running = start(command, columns);
    expect([await running.ended, running.written()]).toEqual([code, expect.any(String)]);
    const lines = linesOf(running.written());
    expect(tooWide(lines, columns)).toEqual([]);
    expect(lines.filter((line) => CONTROLS.test(line))).toEqual([]);
    expect(lines.filter((line) => /^\s*✓ forged/.test(line))).toEqual([]);
    // Long sentences use most of the width.
    const widest = Math.max(...lines.map(columnsOf));
    if (/^(streams list|doctor|streams create --help)$/.test(command)) {
      expect(widest).toBeGreaterThan(columns - 30);
    }
  });

  test('an error has why and fix without split words', async () => {
    const running = start('streams create --url nowhere --tag CJK', columns);
    await running.ended;
    const text = linesOf(running.written()).join(' ').replaceAll(/ +/g, ' ');
    expect(text).toContain('why: --url (webhookUrl) should be');
    expect(text).toMatch(/docs: npm run -s sluice -- docs validation_failed/);
  });

  test('doctor counts streams and does not blame the receiver for a missing chain', async () => {
    const running = start('doctor', columns);
    await running.ended;
    const text = linesOf(running.written()).join(' ').replaceAll(/ +/g, ' ');
    expect(text).toContain('✓ streams 2, 2 with problems');
    expect(text.match(/failing receiver, since \S+Z curl -v -X POST http:\S+;/g)).toHaveLength(2);
  });

  test('listen: list, open a delivery, quit', async () => {
    const running = start('listen SINK', columns);
    await until('listen has started', () =>
      running.written().includes('waiting for the first delivery'),
    );
    world.pay(6n);
    await until('both deliveries are listed', () =>
      /#\d+ unconf[\s\S]*#\d+ unconf/.test(running.written()),
    );
    running.type('\r');
    await until('the delivery is open', () => running.written().includes('webhook-signature:'));
    running.type('q');
    expect(await running.ended).toBe(0);
    const lines = linesOf(running.written());
    expect(tooWide(lines, columns)).toEqual([]);
    expect(lines.filter((line) => CONTROLS.test(line))).toEqual([]);
    expect(Math.max(...lines.map(columnsOf))).toBeGreaterThan(columns - 10);
  });
});
