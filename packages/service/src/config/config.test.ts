import { describe, expect, test } from 'vitest';
import { type ServiceConfig, completeConfig } from './config.ts';

describe('settings', () => {
  test.each([
    [{ port: 70_000 }, /--port 70000/],
    [{ port: Number.NaN }, /--port NaN: should be a whole number from 0 to 65535/],
    [{ apiKey: 'short' }, /--api-key: should have at least 16 characters; this one has 5/],
    [{ secret: '' }, /--secret/],
    [{ databaseUrl: 'mysql://x' }, /--database-url mysql:\/\/x: should be a postgres/],
    [{ trustProxy: ['0'] }, /--trust-proxy 0: should be a network/],
    [{ allowCidrs: ['10.0.0.0/8', '10'] }, /--allow-cidr 10: should be a network/],
    [{ notifyUrl: 'ops.example' }, /--notify-url ops.example: should be an absolute http/],
    [{ notifyUrl: 'ftp://ops.example/x' }, /--notify-url ftp:.*should be an absolute http/],
    [{ roles: ['deliver', 'api'] as const }, /--role deliver --role api: needs --database-url/],
    [
      { roles: ['ingest'] as const, databaseUrl: 'postgres://x' },
      /--role ingest: needs a chain to read/,
    ],
  ])('%j is rejected with the name of the setting', (change, message) => {
    const given: ServiceConfig = change;
    expect(() => completeConfig(given)).toThrow(message);
  });
  test('the defaults are valid', () => {
    expect(completeConfig({ port: undefined })).toMatchObject({
      port: 4400,
      roles: ['ingest', 'deliver', 'api'],
      databaseUrl: undefined,
      chains: [],
      spamLists: {},
      testWebhook: true,
      httpsOnly: false,
    });
  });
  test('alerts may be sent to a private address', () => {
    expect(() => completeConfig({ notifyUrl: 'http://10.0.0.1/x' })).not.toThrow();
  });
});
