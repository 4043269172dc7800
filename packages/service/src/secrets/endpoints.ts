/**
 * Encrypts the custom headers of streams, their OAuth 2.0 client secrets and the logins in their
 * webhook URLs before they reach the ledger, because they may be credentials of receivers. The returned store reads and writes
 * streams in plain text.
 */
import { randomUUID } from 'node:crypto';
import type { OAuth2Credentials } from '@sluice/kit/contract';
import { eachStream } from '../store/streams/eachStream.ts';
import type { Store } from '../store/store.ts';
import type { StreamDraft, StreamRecord } from '../store/streams/contract.ts';
import { intercept } from '../store/intercept.ts';
import type { Vault } from './vault.ts';

type Headers = Record<string, string>;

/** The encrypted fields of a stream. */
interface SealedEndpoint {
  webhookUrl: string;
  headers: Headers;
  oauth2: OAuth2Credentials | null;
}

/** Maximum number of decrypted values to cache, so that most deliveries need no decryption. */
const MAX_OPENED = 10_000;

const purposeOf = (streamId: string): string => `headers of stream ${streamId}`;
const oauth2PurposeOf = (streamId: string): string => `client secret of stream ${streamId}`;
const loginPurposeOf = (streamId: string): string => `login of stream ${streamId}`;

const SCHEME = /^https?:[/\\]+/i;
/** Start of an encrypted login: a user name, followed by the ciphertext instead of a password. */
const SEALED_USER = 'sealed:';

/** Returns the URL with `change` applied to its login, if it has one. */
function mapLogin(url: string, change: (login: string) => string): string {
  const start = SCHEME.exec(url)?.[0].length ?? 0;
  const rest = url.slice(start);
  const authority = rest.slice(0, rest.search(/[/?#\\]|$/));
  const at = authority.lastIndexOf('@');
  if (start === 0 || at < 0) return url;
  return url.slice(0, start) + change(rest.slice(0, at)) + rest.slice(at);
}

const mapValues = (headers: Headers, change: (value: string) => string): Headers =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, change(value)]));

/** Returns the credentials with `change` applied to their client secret. */
const mapClientSecret = (
  oauth2: OAuth2Credentials | null,
  change: (secret: string) => string,
): OAuth2Credentials | null => oauth2 && { ...oauth2, clientSecret: change(oauth2.clientSecret) };

export function sealEndpoints(store: Store, vault: Vault): Store {
  const opened = new Map<string, string>();
  const open = (sealed: string, purpose: string): string => {
    const place = `${purpose} ${sealed}`;
    let value = opened.get(place);
    if (value === undefined) {
      value = vault.open(sealed, purpose);
      if (opened.size >= MAX_OPENED) opened.clear();
      opened.set(place, value);
    }
    return value;
  };
  const seal = <Endpoint extends Partial<SealedEndpoint>>(
    streamId: string,
    endpoint: Endpoint,
  ): Endpoint => ({
    ...endpoint,
    ...(endpoint.headers !== undefined && {
      headers: mapValues(endpoint.headers, (value) => vault.seal(value, purposeOf(streamId))),
    }),
    ...(endpoint.oauth2 !== undefined && {
      oauth2: mapClientSecret(endpoint.oauth2, (secret) =>
        vault.seal(secret, oauth2PurposeOf(streamId)),
      ),
    }),
    ...(endpoint.webhookUrl !== undefined && {
      webhookUrl: mapLogin(
        endpoint.webhookUrl,
        (login) => SEALED_USER + vault.seal(login, loginPurposeOf(streamId)),
      ),
    }),
  });
  const unseal = <Endpoint extends SealedEndpoint>(
    streamId: string,
    endpoint: Endpoint,
  ): Endpoint => ({
    ...endpoint,
    headers: mapValues(endpoint.headers, (sealed) => open(sealed, purposeOf(streamId))),
    oauth2: mapClientSecret(endpoint.oauth2, (sealed) => open(sealed, oauth2PurposeOf(streamId))),
    webhookUrl: mapLogin(endpoint.webhookUrl, (login) =>
      open(login.slice(SEALED_USER.length), loginPurposeOf(streamId)),
    ),
  });
  const openStream = <Stream extends StreamRecord>(stream: Stream): Stream =>
    unseal(stream.id, stream);
  const openFound = async (found: Promise<StreamRecord | undefined>) => {
    const stream = await found;
    return stream && openStream(stream);
  };

  return intercept(store, {
    readStream: (read) => (id) => openFound(read(id)),
    listStreams: (list) => async (listing) => {
      const page = await list(listing);
      return { ...page, rows: page.rows.map(openStream) };
    },
    createStream:
      (create) =>
      async <Draft extends StreamDraft>(
        draft: Draft,
        { id = randomUUID(), ...given }: Parameters<Store['createStream']>[1] = {},
      ) =>
        openStream(await create<Draft>(seal(id, draft), { ...given, id })),
    updateStream: (update) => (id, patch, options) =>
      openFound(update(id, seal(id, patch), options)),
    setStreamStatus:
      (set) =>
      (...change) =>
        openFound(set(...change)),
    deleteStream: (remove) => (id) => openFound(remove(id)),
    failStream:
      (fail) =>
      (...change) =>
        openFound(fail(...change)),
    recoverStream: (recover) => (id) => openFound(recover(id)),
    terminateStreams: (terminate) => async (afterMs) => (await terminate(afterMs)).map(openStream),
    claimDeliveries: (claim) => async (asked) =>
      (await claim(asked)).map((each) => unseal(each.streamId, each)),
    claimSuspect: (claim) => async (asked) => {
      const claimed = await claim(asked);
      return claimed && unseal(claimed.streamId, claimed);
    },
  });
}

/**
 * Re-encrypts values that an older master key encrypted, and returns the number of changed streams.
 * @param store store that returns the values encrypted
 * @throws CallerError if the key of a value was not provided
 */
export async function resealEndpoints(store: Store, vault: Vault): Promise<number> {
  let count = 0;
  for await (const { id, webhookUrl, headers, oauth2 } of eachStream(store)) {
    let isOld = false;
    const again = (sealed: string, purpose: string): string => {
      if (!vault.isOld(sealed)) return sealed;
      isOld = true;
      return vault.seal(vault.open(sealed, purpose), purpose);
    };
    const patch = {
      headers: mapValues(headers, (sealed) => again(sealed, purposeOf(id))),
      oauth2: mapClientSecret(oauth2, (sealed) => again(sealed, oauth2PurposeOf(id))),
      webhookUrl: mapLogin(
        webhookUrl,
        (login) => SEALED_USER + again(login.slice(SEALED_USER.length), loginPurposeOf(id)),
      ),
    };
    if (!isOld) continue;
    await store.updateStream(id, patch);
    count++;
  }
  return count;
}
