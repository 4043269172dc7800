import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { startFaultProxy, startPostgres, startPostgresCluster } from '@sluice/testkit';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createPostgresSignals } from './postgresSignals.ts';
import { type Servers, createServers, parseServers } from './postgresServers.ts';

const GIVEN_UP_MS = 30_000;

describe('the servers of a URL', () => {
  test('become separate URLs that keep the shared parts', () => {
    expect(parseServers('postgres://u:p%40ss@a:1,b:2/db?sslmode=require')).toEqual([
      'postgres://u:p%40ss@a:1/db?sslmode=require',
      'postgres://u:p%40ss@b:2/db?sslmode=require',
    ]);
    expect(parseServers('postgresql://[::1]:5432,b/db')).toEqual([
      'postgresql://[::1]:5432/db',
      'postgresql://b/db',
    ]);
  });

  test('must be writable, and no other session type is accepted', () => {
    expect(parseServers('postgres://a,b/db?target_session_attrs=read-write')).toEqual([
      'postgres://a/db',
      'postgres://b/db',
    ]);
    expect(() => parseServers('postgres://a/db?target_session_attrs=standby')).toThrow(
      'target_session_attrs=standby is not supported',
    );
    expect(() => parseServers('postgres://a:x,b/db')).toThrow(
      'should be a URL such as postgres://localhost',
    );
  });
});

describe('a broken network path', () => {
  afterEach(() => void vi.useRealTimers());

  /**
   * Starts a proxy to a real server. If a client's query contains `text`, the proxy forwards
   * neither that query nor the client's later ones.
   */
  async function startDeadPath(text: string) {
    const postgres = await startPostgres();
    let lost = 0;
    const server = createServer((client) => {
      const upstream = connect(postgres.port, '127.0.0.1');
      let isLost = false;
      client.on('error', () => {}).on('close', () => upstream.destroy());
      upstream.on('error', () => {}).pipe(client);
      client.on('data', (chunk) => {
        if (isLost) return;
        isLost = chunk.includes(text);
        if (isLost) lost++;
        else upstream.write(chunk);
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    return {
      url: postgres.url.replace(String(postgres.port), String(port)),
      lost: () => lost,
      async stop() {
        server.close();
        await postgres.stop();
      },
    };
  }

  test('does not block the caller or the shutdown while a session is opened', async () => {
    const path = await startDeadPath('idle_in_transaction_session_timeout');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const servers = createServers(path.url);
    const refused = expect(servers.connect()).rejects.toThrow('Connection terminated');
    await expect.poll(path.lost).toBe(1);
    await vi.advanceTimersByTimeAsync(GIVEN_UP_MS);
    await refused;
    await servers.end();
    vi.useRealTimers();
    await path.stop();
  });

  test.each(['listen ', 'pg_notify'])(
    'makes signals reconnect after a stalled %s',
    async (text) => {
      const path = await startDeadPath(text);
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const signals = createPostgresSignals(path.url);
      const losesNext = async (count: number): Promise<void> => {
        await expect
          .poll(() => {
            signals.send(['jobs']);
            return path.lost();
          })
          .toBe(count);
      };
      await losesNext(1);
      await vi.advanceTimersByTimeAsync(GIVEN_UP_MS);
      // A session that was closed is reopened after a second.
      await expect
        .poll(async () => {
          await vi.advanceTimersByTimeAsync(1_000);
          signals.send(['jobs']);
          return path.lost();
        })
        .toBe(2);
      await signals.close();
      vi.useRealTimers();
      await path.stop();
    },
  );
});

describe('a failover', () => {
  /** Returns the port of the server that the next session uses. */
  const portOf = async (servers: Servers): Promise<string> => {
    const session = await servers.connect();
    try {
      const { rows } = await session.query('select inet_server_port()::text as port', []);
      return (rows[0] as { port: string }).port;
    } finally {
      session.release();
    }
  };

  test('ends queries to a primary that does not respond, and makes callers wait for the next one', async () => {
    const cluster = await startPostgresCluster();
    const members = [cluster.primary, ...cluster.standbys];
    const proxies = await Promise.all(
      members.map(({ url }) => startFaultProxy({ port: Number(new URL(url).port) })),
    );
    const hosts = proxies.map(({ port }) => `127.0.0.1:${port}`).join(',');
    const servers = createServers(`postgres://postgres@${hosts}/postgres`);
    const session = await servers.connect();

    proxies[0]!.blackHole();
    const startedAt = performance.now();
    const stalled = expect(session.query('select 1', [])).rejects.toThrow('Connection terminated');
    await cluster.killPrimary();
    const promoted = await cluster.promote();
    await stalled;
    expect(performance.now() - startedAt).toBeLessThan(GIVEN_UP_MS / 2);
    session.release(true);

    expect(await portOf(servers)).toBe(new URL(promoted.url).port);

    // No server is writable until the last standby is promoted.
    await cluster.killPrimary();
    // The first query may use a connection whose end is not known yet.
    const waiting = portOf(servers).catch(() => portOf(servers));
    const last = await cluster.promote();
    expect(await waiting).toBe(new URL(last.url).port);

    await servers.end();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await cluster.stop();
  });

  test('is noticed when a connection is lost, although the previous primary is back', async () => {
    const cluster = await startPostgresCluster();
    const hosts = [cluster.primary, ...cluster.standbys].map(({ url }) => new URL(url).host);
    const servers = createServers(`postgres://postgres@${hosts.join(',')}/postgres`);
    const session = await servers.connect();
    const old = await cluster.killPrimary();
    const promoted = await cluster.promote();
    await cluster.revive(old);
    await expect(session.query('select 1', [])).rejects.toThrow('connection error');
    session.release();
    expect(await portOf(servers)).toBe(new URL(promoted.url).port);
    await servers.end();
    await cluster.stop();
  });

  test('is known from the timelines, even if the previous primary responds first or alone', async () => {
    const cluster = await startPostgresCluster();
    const proxies = await Promise.all(
      cluster.standbys.map(({ url }) =>
        startFaultProxy({ port: Number(new URL(url).port), delayMs: 200 }),
      ),
    );
    const old = await cluster.killPrimary();
    const promoted = await cluster.promote();
    await cluster.revive(old);
    const hosts = [new URL(old.url), ...proxies].map(({ port }) => `127.0.0.1:${port}`).join(',');
    const servers = createServers(`postgres://postgres@${hosts}/postgres`);
    expect(await portOf(servers)).toBe(new URL(promoted.url).port);

    await cluster.killPrimary();
    // The first query may use a connection whose end is not known yet.
    const refused = portOf(servers).catch(() => portOf(servers));
    await expect(refused).rejects.toThrow('left behind on timeline 00000001');
    const last = await cluster.promote();
    expect(await portOf(servers)).toBe(new URL(last.url).port);

    await servers.end();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await cluster.stop();
  });
});
