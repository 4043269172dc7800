/** Tests API keys, the secrets of streams, and key pairs in the console. */
import { createSluiceClient } from '@sluice/kit/sluice';
import { createKeyPair, signedRequest, signWithPrivateKey } from '@sluice/kit/testing';
import { beforeAll, expect, test } from 'vitest';
import { useRunning, useVisitor } from './hooks.ts';
import { expectAccessible, expectNoSidewaysScroll, PHONE } from './visitor.ts';
import { startWorld } from './world.ts';

const world = useRunning(startWorld);
const visitor = useVisitor(world);
let streamId: string;

beforeAll(async () => {
  streamId = (await world.createStream('whale-usdt')).id;
});

test("a key is shown once, then revoked; a stream's secret is rotated", async () => {
  const page = await visitor.signedIn('/settings');
  await page.getByRole('button', { name: 'Create key', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('nightly export');
  await dialog.getByRole('button', { name: 'Create key', exact: true }).click();
  const key = await dialog.getByText(/^sluice_/).innerText();
  const keyed = createSluiceClient({ baseUrl: world.url, apiKey: key });
  expect(await keyed.checkSession()).toBe(true);
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Revoke nightly export' }).click();
  await dialog.getByRole('button', { name: 'Revoke key' }).click();
  await page.getByText('revoked', { exact: true }).waitFor();
  await expect.poll(() => keyed.checkSession(), { timeout: 10_000 }).toBe(false);

  await page.goto(`${world.url}/console/streams/${streamId}?tab=settings`);
  await page.getByRole('button', { name: 'Reveal secret' }).click();
  const before = await page.getByText(/^whsec_/).innerText();
  await page.getByRole('button', { name: 'Rotate…' }).click();
  await dialog.getByRole('button', { name: 'Rotate secret' }).click();
  await page.getByText(/^The secret created at .* also signs until/).waitFor();
  await expect.poll(() => page.getByText(/^whsec_/).innerText()).not.toBe(before);

  await page.getByRole('link', { name: 'Public keys' }).click();
  await page.waitForURL(/\/settings#public-keys$/);
  await page.getByRole('region', { name: 'Public keys' }).waitFor();
});

test('a key pair is created, replaced with an overlap, and removed, on a phone', async () => {
  const sluice = createSluiceClient({ baseUrl: world.url, apiKey: world.apiKey });
  const page = await visitor.signedIn('/settings', PHONE);
  const region = page.getByRole('region', { name: 'Public keys' });
  const dialog = page.getByRole('dialog');
  await region.getByText('No key pairs yet.').waitFor();
  await region.getByRole('button', { name: 'Create key pair…' }).click();
  await dialog.getByText('The private key stays in the service, encrypted.').waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Create key pair' }).click();
  await dialog.waitFor({ state: 'detached' });
  const [first] = await sluice.listPublicKeys();
  await region.getByText(first!.publicKey).waitFor();

  await region.getByRole('button', { name: 'Create key pair…' }).click();
  await dialog.getByLabel(/^Overlap/).selectOption('1 hour');
  await dialog.getByRole('button', { name: 'Create key pair' }).click();
  await region.getByText('signs until').waitFor();
  const [second, older] = await sluice.listPublicKeys();
  expect(older).toMatchObject({ id: first!.id, endsAt: second!.createdAt + 3_600_000 });
  await expectNoSidewaysScroll(page);

  await region.getByRole('button', { name: `Remove ${second!.publicKey}` }).click();
  await dialog.getByText('Receivers that verify with this public key').waitFor();
  await expectAccessible(page);
  await dialog.getByRole('button', { name: 'Remove key pair' }).click();
  await region.getByText(second!.publicKey).waitFor({ state: 'detached' });
  expect((await sluice.listPublicKeys()).map(({ id }) => id)).toEqual([first!.id]);
});

test('a webhook is verified with a public key', async () => {
  const pair = await createKeyPair();
  const body = '{"confirmed":true}';
  const { headers } = await signWithPrivateKey(
    signedRequest({ body, secret: world.secret }),
    pair.privateKey,
  );
  const page = await visitor.signedIn('/verify');
  await page.getByLabel('Secret or public key').fill(pair.publicKey);
  expect(await page.getByLabel('Other secrets').count()).toBe(0);
  await page
    .getByLabel('Headers')
    .fill([...headers].map(([name, value]) => `${name}: ${value}`).join('\n'));
  await page.getByLabel('Body').fill(body);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('The signature is valid').waitFor();
  await page.getByLabel('Secret or public key').fill((await createKeyPair()).publicKey);
  await page.getByRole('button', { name: 'Verify' }).click();
  await page.getByText('wrong-public-key').waitFor();
  await expectAccessible(page);
});
