/**
 * Encrypts the custom headers of streams, their OAuth 2.0 client secrets and the logins in their
 * webhook URLs, because they may be credentials of receivers. The ledger stores only the encrypted
 * values.
 */
import type { OAuth2Credentials } from '@sluice/kit/contract';
import { eachStream } from '../store/streams/eachStream.ts';
import { toLaneId } from '../store/rows/laneIds.ts';
import type { Store } from '../store/store.ts';
import type { Sealed } from '../store/streams/contract.ts';
import type { Vault } from './vault.ts';

type Headers = Record<string, string>;

/** The fields of a stream that may contain credentials. */
interface Endpoint {
  webhookUrl: string;
  headers: Headers;
  oauth2: OAuth2Credentials | null;
}

/** Maximum number of decrypted values to cache, so that most deliveries need no decryption. */
const MAX_OPENED = 10_000;

const purposeOf = (streamId: string): string => `headers of stream ${streamId}`;
const oauth2PurposeOf = (streamId: string): string => `client secret of stream ${streamId}`;
const loginPurposeOf = (streamId: string): string => `login of stream ${streamId}`;

const SCHEME = /^[a-z][a-z\d+.-]*:[/\\]+/i;
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

export interface Endpoints {
  /** Encrypts the credentials in the fields of a stream, before they are written. */
  seal<Fields extends Partial<Endpoint>>(streamId: string, fields: Fields): Sealed<Fields>;
  /** Decrypts the credentials in fields that were read from the ledger. */
  open<Fields extends Endpoint>(streamId: string, sealed: Fields): Fields;
}

export function createEndpoints(vault: Vault): Endpoints {
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
  return {
    seal: <Fields extends Partial<Endpoint>>(streamId: string, fields: Fields) =>
      ({
        ...fields,
        ...(fields.headers !== undefined && {
          headers: mapValues(fields.headers, (value) => vault.seal(value, purposeOf(streamId))),
        }),
        ...(fields.oauth2 !== undefined && {
          oauth2: mapClientSecret(fields.oauth2, (secret) =>
            vault.seal(secret, oauth2PurposeOf(streamId)),
          ),
        }),
        ...(fields.webhookUrl !== undefined && {
          webhookUrl: mapLogin(
            fields.webhookUrl,
            (login) => SEALED_USER + vault.seal(login, loginPurposeOf(streamId)),
          ),
        }),
      }) as Sealed<Fields>,
    open: (streamId, sealed) => ({
      ...sealed,
      headers: mapValues(sealed.headers, (value) => open(value, purposeOf(streamId))),
      oauth2: mapClientSecret(sealed.oauth2, (secret) => open(secret, oauth2PurposeOf(streamId))),
      webhookUrl: mapLogin(sealed.webhookUrl, (login) =>
        open(login.slice(SEALED_USER.length), loginPurposeOf(streamId)),
      ),
    }),
  };
}

/** Yields the endpoints of all streams and their additional destinations. */
async function* eachEndpoint(
  store: Store,
): AsyncGenerator<Endpoint & { id: string; laneId: string }> {
  for await (const stream of eachStream(store)) yield { ...stream, laneId: stream.id };
  for (const each of await store.listDestinations()) {
    yield { ...each, id: each.streamId, laneId: toLaneId(each.streamId, each.destination) };
  }
}

/**
 * Re-encrypts values that an older master key encrypted, and returns the number of changed streams.
 * @throws CallerError if the key of a value was not provided
 */
export async function resealEndpoints(store: Store, vault: Vault): Promise<number> {
  let count = 0;
  for await (const { id, laneId, webhookUrl, headers, oauth2 } of eachEndpoint(store)) {
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
    await store.updateStream(laneId, patch as Sealed<typeof patch>);
    count++;
  }
  return count;
}
