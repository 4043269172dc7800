/** Tests the start behind a connection pooler, and with certificates that are not trusted. */
import { once } from 'node:events';
import { type AddressInfo, type Server, type Socket, connect, createServer } from 'node:net';
import { TLSSocket, createSecureContext } from 'node:tls';
import { type Postgres, createCertificate, startPostgres } from '@sluice/testkit';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from './postgres.ts';

let postgres: Postgres;
const servers: Server[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
});
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});
afterAll(() => postgres.stop());

async function listen(onClient: (client: Socket) => void): Promise<number> {
  const server = createServer((client) => {
    client.on('error', () => {});
    onClient(client);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

type Order = 'last used first' | 'longest idle first' | 'of the client itself first';

/**
 * Starts a pooler in transaction mode: a client has a session of the server only until the server
 * is ready for a query outside a transaction. Each client's login opens a session; the pool keeps
 * the first `size` of them.
 */
function startPooler(order: Order, size: number): Promise<number> {
  const idle: Socket[] = [];
  let kept = 0;
  const take = (own: Socket | undefined): Socket => {
    if (order === 'longest idle first') return idle.shift()!;
    const at = order === 'last used first' || own === undefined ? -1 : idle.indexOf(own);
    return idle.splice(at, 1)[0]!;
  };
  return listen((client) => {
    let isLogin = true;
    let last: Socket | undefined;
    let held: Socket | undefined = connect(postgres.port, '127.0.0.1');
    const use = (session: Socket): void => {
      held = session;
      last = session;
      session.removeAllListeners('data').on('data', (chunk: Buffer) => {
        client.write(chunk);
        // ReadyForQuery, with status `I` outside a transaction.
        if (!chunk.subarray(-6).equals(Buffer.from('Z\0\0\0\x05I'))) return;
        held = undefined;
        if (isLogin && kept === size) session.end();
        else idle.push(session);
        if (isLogin && kept < size) kept++;
        isLogin = false;
      });
    };
    held.on('error', () => {});
    use(held);
    client.on('data', (chunk) => {
      if (chunk[0] === 'X'.charCodeAt(0)) return;
      if (held === undefined) use(take(last));
      held!.write(chunk);
    });
  });
}

const at = (port: number): string => postgres.url.replace(String(postgres.port), String(port));

describe('a pooler in transaction mode', () => {
  test.each<[Order, number]>([
    ['last used first', 1],
    ['longest idle first', 1],
    ['longest idle first', 3],
    ['of the client itself first', 2],
    ['of the client itself first', 3],
  ])(
    'that hands out the session %s is refused at the start, with %i idle sessions',
    async (order, size) => {
      const port = await startPooler(order, size);
      await expect(openPostgresStore(at(port))).rejects.toMatchObject({
        code: 'database_refused',
        message: expect.stringContaining(`127.0.0.1:${port} is a connection pooler`) as string,
        fix: expect.stringContaining('directly') as string,
      });
    },
  );

  test('is refused even if it has more idle sessions than connections', async () => {
    const port = await startPooler('longest idle first', 12);
    for (let n = 0; n < 12; n++) {
      const client = new pg.Client(at(port));
      await client.connect();
      await client.end();
    }
    await expect(openPostgresStore(at(port))).rejects.toMatchObject({ code: 'database_refused' });
  });

  test('is not confused with a proxy, or a pooler in session mode', async () => {
    const port = await listen((client) => {
      const session = connect(postgres.port, '127.0.0.1').on('error', () => {});
      client.pipe(session).pipe(client);
    });
    const store = await openPostgresStore(at(port));
    await store.saveSetting('kept', 'yes');
    expect(await store.readSetting('kept')).toBe('yes');
    await store.close();
  });
});

describe('a server', () => {
  const day = 24 * 3_600_000;
  const made = (
    expiresInDays: number,
    issuer?: Parameters<typeof createCertificate>[0]['issuer'],
  ) =>
    createCertificate({
      commonName: 'localhost',
      names: ['localhost'],
      ...(issuer && { issuer }),
      validFrom: new Date(Date.now() - 10 * day),
      expiresAt: new Date(Date.now() + expiresInDays * day),
    });

  test.each([
    ['that is self-signed', () => made(100), 'sslrootcert=FILE'],
    ['that has expired', () => made(-1), 'renew'],
  ])('with a certificate %s is refused with the setting that helps', async (_, create, helps) => {
    const { cert, key } = create();
    const port = await listen((client) => {
      client.once('data', () => {
        client.write('S');
        new TLSSocket(client, {
          isServer: true,
          secureContext: createSecureContext({ cert, key }),
        }).on('error', () => {});
      });
    });
    const error: unknown = await openPostgresStore(
      `postgres://postgres@localhost:${port}/postgres?sslmode=verify-full`,
    ).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'database_refused' });
    const { message, fix } = error as { message: string; fix: string };
    expect(`${message}. ${fix}`).toContain(helps);
    expect(fix).toContain('NODE_EXTRA_CA_CERTS');
  });

  test('without TLS is refused with the setting that helps', async () => {
    await expect(openPostgresStore(`${postgres.url}?sslmode=require`)).rejects.toMatchObject({
      code: 'database_refused',
      fix: expect.stringContaining('sslmode') as string,
    });
  });
});
