/**
 * Tests webhook URLs with names that do not resolve or resolve to private addresses, and with
 * different spellings of private addresses.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type NameServer, startNameServer, nameServerCommand } from './nameServer.ts';
import { isRoot, requireRoot } from './root.ts';
import { type FaultWorld, STORES, type Watch, startWorld } from './world.ts';

const PUBLIC = '93.184.216.34';
/**
 * Preloaded file that makes sockets for `diverted.example` connect to loopback, even though the
 * lookup returned an address that was allowed.
 */
const DIVERTED = fileURLToPath(new URL('divertedSocket.ts', import.meta.url));
const REFUSED = /private, loopback or reserved|SSRF_BLOCKED/;

const folder = mkdtempSync(join(tmpdir(), 'sluice-names-'));
let names: NameServer;
beforeAll(async () => {
  if (isRoot) names = await startNameServer();
});
afterAll(() => {
  names?.stop();
  rmSync(folder, { recursive: true });
});

describe.each(STORES)('on %s', (store) => {
  let world: FaultWorld;

  beforeAll(async () => {
    const wrapper = isRoot ? nameServerCommand(join(folder, store)) : [];
    world = await startWorld(store, { serve: { wrapper } });
  });
  afterAll(() => world?.stop());

  const portOf = (): string => new URL(world.receiver.url).port;
  const errorsOf = ({
    streamId,
  }: Watch): Promise<{ status: number | null; error: string | null }[]> =>
    world.ledger.rows(`
      select status, error from attempt where delivery_id in
        (select id from delivery where stream_id = '${streamId}') order by number`);
  const attempted = (watch: Watch, count: number) =>
    until(`attempt ${count} for ${watch.path}`, async () => {
      const errors = await errorsOf(watch);
      return errors.length >= count && errors;
    });

  test('fault 10: NXDOMAIN, SERVFAIL, no answer, then recovery', async () => {
    requireRoot();
    const failures = { nxdomain: 'NXDOMAIN', servfail: 'SERVFAIL', silent: 'silence' } as const;
    const watches: Watch[] = [];
    for (const [label, failure] of Object.entries(failures)) {
      const name = `${label}.example`;
      names.answer(name, failure);
      const url = `http://${name}:${portOf()}/${label}`;
      watches.push(await world.watch(label, { url, deliver: 'confirmed' }));
    }
    world.mine(watches);
    world.mine([], 2);
    const said: string[] = [];
    for (const watch of watches) said.push((await attempted(watch, 1))[0]!.error!);
    expect(said[0]).toContain('ENOTFOUND');
    expect(said[1]).toContain('EAI_AGAIN');
    // The service stops waiting after 3 s. The resolver alone would wait longer.
    expect(said[2]).toBe('the name silent.example was not resolved within 3 s');
    for (const label of Object.keys(failures)) names.answer(`${label}.example`, ['127.0.0.1']);
    await world.holds(watches);
    for (const watch of watches) {
      await until(
        'the webhook arrives',
        async () => (await errorsOf(watch)).at(-1)?.error === null,
      );
    }
    await world.holds(watches);
  });

  test('fault 10: names whose servers are silent delay no other name', async () => {
    requireRoot();
    const watchOf = (label: string) =>
      world.watch(label, { url: `http://${label}.example:${portOf()}/` });
    const silent: Watch[] = [];
    for (let n = 0; n < 8; n++) {
      names.answer(`silent${n}.example`, 'silence');
      silent.push(await watchOf(`silent${n}`));
    }
    names.answer('healthy.example', ['127.0.0.1']);
    const healthy = await watchOf('healthy');
    world.mine([...silent, healthy]);
    world.mine([], 2);
    for (const watch of silent) {
      const [first] = await attempted(watch, 1);
      expect(first!.error).toMatch(/^the name silent\d.example was not resolved within 3 s$/);
    }
    expect(await attempted(healthy, 2)).toEqual([
      { status: 200, error: null },
      { status: 200, error: null },
    ]);
    for (let n = 0; n < 8; n++) names.answer(`silent${n}.example`, ['127.0.0.1']);
    await world.holds([...silent, healthy]);
  });

  describe('with private endpoints refused', () => {
    const streams: Watch[] = [];
    const blocked: Watch[] = [];
    const spelt = (): string[] => {
      const port = portOf();
      return [
        `http://127.0.0.1:${port}/`,
        `http://2130706433:${port}/`,
        `http://0x7f000001:${port}/`,
        `http://0177.0.0.1:${port}/`,
        `http://0x7f.1:${port}/`,
        `http://127.1:${port}/`,
        `http://0:${port}/`,
        `http://[::1]:${port}/`,
        `http://[::]:${port}/`,
        `http://[::ffff:127.0.0.1]:${port}/`,
        `http://[::ffff:7f00:1]:${port}/`,
        `http://[64:ff9b::7f00:1]:${port}/`,
        `http://[2002:7f00:1::]:${port}/`,
        `http://１２７.０.０.１:${port}/`,
        `http://127.0.0.1.:${port}/`,
        `http://localhost:${port}/`,
        `http://localhost.:${port}/`,
        `http://public.example@127.0.0.1:${port}/`,
        'http://169.254.169.254/latest/meta-data/',
        'http://10.0.0.1/',
        'http://100.64.0.1/',
      ];
    };

    beforeAll(async () => {
      // Streams are saved while private endpoints are allowed, so that only the sender can refuse
      // them.
      for (const url of spelt())
        streams.push(await world.watch('spelt', { url, deliver: 'confirmed' }));
      if (isRoot) {
        for (const name of ['rebinds', 'mixed', 'metadata', 'diverted']) {
          names.answer(`${name}.example`, [PUBLIC]);
          const url = `http://${name}.example:${portOf()}/`;
          blocked.push(await world.watch(name, { url, deliver: 'confirmed' }));
        }
      }
      expect(await world.service.stop()).toBe(0);
      const wrapper = isRoot ? nameServerCommand(join(folder, store)) : [];
      const nodeFlags = ['--import', DIVERTED];
      await world.start({ serve: { wrapper, nodeFlags, allowPrivateEndpoints: false } });
    });

    test('fault 11: names that rebind, mixed answers, the metadata address', async () => {
      requireRoot();
      const asked = new Map<string, number>();
      const script = (name: string, answers: readonly (readonly string[])[]): void =>
        names.answer(name, () => {
          const n = asked.get(name) ?? 0;
          asked.set(name, n + 1);
          return answers[Math.min(n, answers.length - 1)]!;
        });
      script('rebinds.example', [[PUBLIC], ['127.0.0.1']]);
      script('mixed.example', [[PUBLIC, '127.0.0.1']]);
      script('metadata.example', [['169.254.169.254']]);
      const before = world.receiver.requests.length;
      world.mine(blocked);
      world.mine([], 2);
      // The first attempt of the rebinding name goes to its public address, which does not respond.
      expect((await attempted(blocked[0]!, 2))[1]!.error).toMatch(REFUSED);
      for (const watch of blocked.slice(1)) {
        expect((await attempted(watch, 1))[0]!.error).toMatch(REFUSED);
      }
      const places = await world.metrics(/^sluice_ssrf_blocked_total\{reason="(lookup|peer)"\}/);
      expect(places).toHaveLength(2);
      await world.holds(blocked);
      expect(world.receiver.requests.length).toBe(before);
      expect((await world.metrics(/^sluice_ssrf_blocked_total/))[0]).toBeGreaterThan(0);
    });

    test('fault 13: every spelling is refused on save and on send', async () => {
      const before = world.receiver.requests.length;
      for (const url of spelt()) {
        await expect(world.watch('refused', { url }), url).rejects.toMatchObject({ status: 422 });
      }
      world.mine(streams);
      world.mine([], 2);
      for (const watch of streams) {
        const [attempt] = await attempted(watch, 1);
        expect(attempt).toMatchObject({ status: null, error: expect.stringMatching(REFUSED) });
      }
      await world.holds(streams);
      expect(world.receiver.requests.length).toBe(before);
    });
  });
});
