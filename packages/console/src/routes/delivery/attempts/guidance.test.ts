import { expect, test } from 'vitest';
import { attemptGuidance } from './guidance.ts';

const figures = {
  bodyBytes: 132_400,
  p95Ms: 812,
  nextAttemptAt: new Date(2026, 10, 22, 9, 5, 7).getTime(),
};
const guidanceOf = (
  status: number | null,
  error: string | null,
  address: string | null = null,
  webhookUrl = 'https://api.example/hooks',
) => attemptGuidance({ status, error, durationMs: 15_000, address, webhookUrl }, figures);
const status = (value: number) => guidanceOf(value, `HTTP ${value}`)?.advice;
const transport = (error: string, address?: string) => guidanceOf(null, error, address)?.advice;

test('each class of responses has its own advice', () => {
  expect(status(401)).toContain('signature');
  expect(status(404)).toContain('URL');
  expect(status(408)).toContain('Respond with 2xx first');
  expect(status(504)).toContain('Respond with 2xx first');
  expect(status(413)).toContain('limit');
  expect(status(429)).toContain('limit the rate of the stream');
  expect(status(503)).toContain('failed or is restarting');
  expect(status(301)).toContain('Redirects');
  expect(status(410)).toContain('Gone');
});

test('the advice for a request without a response depends on the cause', () => {
  expect(transport('connect ECONNREFUSED 127.0.0.1:3000')).toContain('Nothing is listening');
  expect(transport('getaddrinfo ENOTFOUND api.example')).toContain('api.example does not resolve');
  expect(transport('getaddrinfo EAI_AGAIN api.example')).toContain('name server');
  expect(transport('the name api.example was not resolved within 3 s')).toContain('name server');
  expect(transport('Connect Timeout Error (attempted address: a:443)')).toContain(
    'Couldn’t connect',
  );
  expect(transport('connect EHOSTUNREACH 10.1.2.3:443')).toContain('Couldn’t connect');
  expect(transport('port 25 is not allowed: use 80')).toContain('port 25');
  expect(transport('The attempt timed out after 15 s')).toContain(
    'No complete response after 15 s',
  );
  expect(transport('certificate has expired')).toContain('certificate');
  expect(transport('socket hang up')).toContain('closed the connection');
});

test('errors of queues and databases need no advice', () => {
  const error = 'no JetStream stream has the subject a: create one';
  expect(guidanceOf(null, error, null, 'nats://broker/a')).toBeNull();
  expect(guidanceOf(null, 'timeout', null, 'postgres://host/db?schema=s')).toBeNull();
});

test('the advice includes the certificate error, or the address that was tried', () => {
  const error =
    'the certificate is not for a.test: CN=b.test; for b.test, timeout.test; valid from 2026-01-01 to 2026-11-01; signed by CN=X';
  expect(guidanceOf(null, error)).toMatchObject({
    advice: expect.stringContaining(`The secure connection failed: ${error}`) as string,
    offers: ['connect'],
  });
  expect(transport('connect ECONNREFUSED 10.1.2.3:443', '10.1.2.3:443')).toContain(
    'Nothing is listening on this host and port. Tried 10.1.2.3:443.',
  );
  expect(transport('wrong version number (SSL routines)', '10.1.2.3:443')).toContain(
    'does not speak TLS on this port. Tried 10.1.2.3:443.',
  );
  expect(transport('SSL alert number 70: tlsv1 alert protocol version')).toContain('TLS versions');
});

test('the advice for a blocked address names it, and the flag that allows only it', () => {
  const refusal = (address: string, webhookUrl: string) =>
    guidanceOf(
      null,
      `the address ${address} is private, loopback or reserved; start the service with --allow-cidr to allow its network`,
      null,
      webhookUrl,
    )!;
  const flag = (network: string) => ({
    label: 'Copy the --allow-cidr flag',
    copy: `--allow-cidr ${network}`,
  });
  const literal = refusal('10.1.2.3', 'http://10.1.2.3/hooks');
  expect(literal.advice).toMatch(/^10\.1\.2\.3 is not public/);
  expect(literal.offers).toEqual([flag('10.1.2.3/32'), 'edit', 'connect']);
  const named = refusal('fd00::1', 'https://api.example/hooks');
  expect(named.advice).toMatch(/^api\.example resolves to fd00::1, which is not public/);
  expect(named.offers).toContainEqual(flag('fd00::1/128'));
  expect(refusal('::1', 'http://[::1]:3000/').advice).toMatch(/^::1 is not public/);
  expect(refusal('localhost', 'http://localhost/').offers).toContainEqual(flag('127.0.0.0/8'));
  expect(refusal('db.internal', 'http://db.internal/').offers).toEqual(['edit', 'connect']);
});

test('there is no advice if none helps', () => {
  expect(guidanceOf(200, null)).toBeNull();
  expect(guidanceOf(null, null)).toBeNull();
  expect(guidanceOf(418, 'teapot')).toBeNull();
  expect(transport('?')).toBeUndefined();
});

test('the advice for a failure offers the next step', () => {
  const offers = (code: number) => guidanceOf(code, '')?.offers;
  const copied = (label: string) => [expect.objectContaining({ label }) as unknown];
  expect(offers(401)).toEqual(['verify']);
  expect(offers(403)).toEqual(['verify']);
  expect(offers(404)).toEqual(['edit']);
  expect(offers(405)).toEqual(['edit']);
  expect(offers(408)).toEqual(copied('Copy a handler that responds first'));
  expect(offers(413)).toEqual(copied('Copy the line for Express'));
  expect(offers(429)).toEqual(['limit']);
  expect(offers(500)).toEqual(['local']);
});

test.each([
  ['getaddrinfo ENOTFOUND api.example', ['edit', 'connect']],
  ['the name api.example was not resolved within 3 s', ['connect']],
  ['Connect Timeout Error (attempted address: a:443)', ['connect', 'edit']],
  ['connect ECONNREFUSED 127.0.0.1:3000', ['connect', 'edit']],
  ['SSL routines:tls_validate_record_header:wrong version number', ['connect', 'edit']],
  ['the certificate has expired, or one in its chain has: CN=a', ['connect']],
  ['read ECONNRESET', ['curl']],
  ['port 25 is not allowed', ['edit']],
])('a failed connection offers next steps: %s', (error, offers) => {
  expect(guidanceOf(null, error)?.offers).toEqual(offers);
});

test('advice includes the figures of the delivery', () => {
  expect(status(413)).toContain('This body of 132.4 kB');
  expect(status(429)).toContain('waits until 09:05:07');
  expect(status(408)).toContain(
    'timed out after 15 s. Successful attempts take up to 812 ms (p95).',
  );
  const unknown = { ...figures, p95Ms: null, nextAttemptAt: null };
  const attempt = {
    status: null,
    error: 'timed out',
    durationMs: 5_000,
    address: null,
    webhookUrl: '',
  };
  expect(attemptGuidance(attempt, unknown)?.advice).toContain(
    'No complete response after 5.0 s. Respond',
  );
});
