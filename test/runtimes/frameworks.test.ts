/**
 * Tests the handler in frameworks that the kit's own tests do not use: previous major versions of
 * Express and Fastify, and Next, which bundles the published kit.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createHandler } from '@sluice/kit';
import { toExpress } from '@sluice/kit/express';
import { type FastifyScope, toFastify } from '@sluice/kit/fastify';
import { findFreePort, until } from '@sluice/testkit';
import { afterEach, expect, test } from 'vitest';
import { packKit } from '../../scripts/release/packages.ts';
import { installInto } from '../packed/install.ts';
import { EXPECTED_RESPONSES, sendAll } from './responses.ts';

const SECRET = 'the streams secret';
const programs = fileURLToPath(new URL('../programs/runtimes/', import.meta.url));
const require = createRequire(join(programs, 'package.json'));

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const newHandler = () => createHandler({ secret: SECRET, onError: () => {} });

test('Express 4 verifies webhooks', async () => {
  const express = require('express-4') as () => {
    post(path: string, handler: unknown): void;
    listen(port: number, host: string): Server;
  };
  const app = express();
  app.post('/webhooks', toExpress(newHandler()));
  const server = app.listen(0, '127.0.0.1');
  cleanups.push(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  expect(await sendAll(`http://127.0.0.1:${port}/webhooks`, SECRET)).toEqual(EXPECTED_RESPONSES);
});

test('Fastify 4 verifies webhooks', async () => {
  const { fastify } = require('fastify-4') as {
    fastify(): FastifyScope & {
      register(plugin: unknown): void;
      listen(options: { port: number; host: string }): Promise<string>;
      close(): Promise<void>;
    };
  };
  const app = fastify();
  app.register(toFastify(newHandler(), { path: '/webhooks' }));
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  cleanups.push(() => app.close());
  expect(await sendAll(`${url}/webhooks`, SECRET)).toEqual(EXPECTED_RESPONSES);
});

test('a production build of Next serves the route of examples/next', async () => {
  // The app is below the folder that contains Next, because Next's bundler compiles only files
  // below one root folder.
  const app = mkdtempSync(join(programs, '.next-'));
  cleanups.push(() => rmSync(app, { recursive: true }));
  installInto(app, 'module', [packKit(app).tarball]);
  cpSync(fileURLToPath(new URL('../../examples/next', import.meta.url)), app, { recursive: true });
  writeFileSync(
    join(app, 'next.config.js'),
    `export default { turbopack: { root: ${JSON.stringify(programs)} } };`,
  );
  const next = [require.resolve('next/dist/bin/next')];
  const env = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    NEXT_TELEMETRY_DISABLED: '1',
    SLUICE_SECRET: SECRET,
  };
  const built = spawnSync(process.execPath, [...next, 'build'], {
    cwd: app,
    env,
    encoding: 'utf8',
  });
  expect(built.status, built.stdout + built.stderr).toBe(0);

  const port = await findFreePort();
  const args = [...next, 'start', '-H', '127.0.0.1', '-p', String(port)];
  const server: ChildProcess = spawn(process.execPath, args, { cwd: app, env, stdio: 'ignore' });
  cleanups.push(async () => {
    server.kill('SIGKILL');
    await once(server, 'exit');
  });
  const url = `http://127.0.0.1:${port}/webhooks`;
  await until('Next responds', () => fetch(url).catch(() => undefined));
  expect(await sendAll(url, SECRET)).toEqual(EXPECTED_RESPONSES);
});
