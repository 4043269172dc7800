import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createEndpoints } from './endpoints.ts';
import { createVault } from './vault.ts';

test.each([
  'https://user:pass@example.com/hook',
  'nats://user:pass@broker:4222/hooks.{stream}',
  'nats://pass@a,b:4222/hooks?stream=HOOKS',
  'TLS://user:pass@broker/hooks',
  'kafka+ssl://user:pass@a,b:9093/hooks?key={chain}&sasl=scram-sha-512',
  'amqps://user:pass@a,b/vhost?exchange=hooks&routingKey=a.{chain}',
])('%s: the ledger has its login encrypted, and all else as it is', (webhookUrl) => {
  const { seal, open } = createEndpoints(createVault([randomBytes(32)]));
  const sealed = seal('stream', { webhookUrl, headers: {}, oauth2: null });
  expect(sealed.webhookUrl).not.toContain('pass');
  const [start, end] = webhookUrl.split(/(?<=\/\/).*(?=@)/);
  expect(sealed.webhookUrl.startsWith(`${start}sealed:`)).toBe(true);
  expect(sealed.webhookUrl.endsWith(end!)).toBe(true);
  expect(open('stream', sealed as never)).toEqual({ webhookUrl, headers: {}, oauth2: null });
});

test.each([
  'https://example.com/a@b',
  'sluice://inbox/a',
  'sluice://feed',
  'nats://broker/a@b',
  'kafka://broker/hooks?key=a@b',
])('%s has no login', (webhookUrl) => {
  const { seal } = createEndpoints(createVault([randomBytes(32)]));
  expect(seal('stream', { webhookUrl })).toEqual({ webhookUrl });
});
