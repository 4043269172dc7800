/** Tests that errors of untrusted certificates name the setting that helps, for every kind of server. */
import { type Server, createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCertificate } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ALL_NETWORKS, createAddressGuard } from '../deliver/destinations/http/guard.ts';
import { createHttpSender } from '../deliver/send/httpSender.test-only.ts';
import { createAptosRest } from '../families/aptos/ingest/rest.ts';
import { createRpcClient } from '../families/evm/ingest/rpc/createRpcClient.ts';
import { createAbiSource } from '../families/evm/chains/abiSource.ts';
import { findCertificateFault } from './certificateErrors.ts';

const DAY_MS = 24 * 3_600_000;
let server: Server;
let host: string;

beforeAll(async () => {
  const { cert, key } = createCertificate({
    commonName: 'localhost',
    names: ['localhost'],
    validFrom: new Date(Date.now() - DAY_MS),
    expiresAt: new Date(Date.now() + 90 * DAY_MS),
  });
  server = createServer({ cert, key }, (_, response) => response.end('{}'));
  await new Promise<void>((resolve) => void server.listen(0, 'localhost', resolve));
  host = `localhost:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

const messageOf = async (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'no error',
    (error: unknown) => String(error),
  );

describe('a certificate that is not trusted', () => {
  test.each(['https', 'wss'])('of a node over %s is reported with the fix', async (scheme) => {
    const client = createRpcClient(`${scheme}://${host}`, 'node');
    expect(await messageOf(client.request('eth_chainId', []))).toContain('NODE_EXTRA_CA_CERTS');
    await client.close();
  });

  test('of an Aptos node is reported with the fix', async () => {
    const rest = createAptosRest(`https://${host}/v1`, 'node');
    expect(await messageOf(rest.get(''))).toContain('NODE_EXTRA_CA_CERTS');
    await rest.close();
  });

  test('of an ABI source is reported with the fix', async () => {
    const source = createAbiSource({ '0x1': `https://${host}/{address}` });
    expect(await messageOf(source.read('0x1', '0x0'))).toContain('NODE_EXTRA_CA_CERTS');
  });

  test('of a receiver is reported with the fix', async () => {
    const sender = createHttpSender({
      guard: createAddressGuard({ allowCidrs: ALL_NETWORKS }),
      secret: () => 'a streams secret',
      region: () => 'us-east-1',
    });
    const { error } = await sender.send({
      url: `https://${host}/hook`,
      id: 'id',
      body: Buffer.from('{}'),
      headers: {},
      queueSize: 0,
      recordsCharged: 0,
    });
    expect(error).toMatch(/^the certificate is self-signed: .*NODE_EXTRA_CA_CERTS/);
    await sender.close();
  });
});

test.each([
  ['self-signed certificate in certificate chain', 'SELF_SIGNED_CERT_IN_CHAIN'],
  [
    'No connection established. Last error: Error: unable to verify the first certificate',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  ],
  ['certificate has expired', 'CERT_HAS_EXPIRED'],
])('an error without a code is recognized by its message: %s', (message, code) => {
  expect(findCertificateFault(new Error('failed', { cause: new Error(message) }))).toMatchObject({
    code,
  });
});

test('other errors are not recognized', () => {
  for (const error of [new Error('connect ECONNREFUSED'), 'certificate has expired', undefined]) {
    expect(findCertificateFault(error)).toBeUndefined();
  }
});
