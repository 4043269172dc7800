/** Reads the webhook URL of a NATS broker. */
import type { ConnectionOptions } from '@nats-io/transport-node';
import { type QueueUrl, parseQueueUrl } from '@sluice/kit/contract';
import { type CleanText, cleanReceiverText } from '../../../base/foreignText.ts';
import { readLogin } from '../login.ts';

export interface Target extends QueueUrl {
  url: URL;
  /** The scheme, login, hosts and port, which URLs that share a connection have in common. */
  place: string;
  login: Pick<ConnectionOptions, 'user' | 'pass' | 'token'>;
  /** Hides the login in texts of the broker. */
  clean: CleanText;
}

export function readTarget(text: string): Target {
  const url = new URL(text);
  const { protocol, username, password, host } = url;
  const place = `${protocol}//${username}:${password}@${host}`;
  return {
    ...parseQueueUrl(text),
    url,
    place,
    login: toLogin(url),
    clean: cleanReceiverText(place),
  };
}

/** A user without a password is a token, as in other NATS clients. */
function toLogin(url: URL): Target['login'] {
  const login = readLogin(url);
  if (login === undefined) return {};
  const { user, password } = login;
  return password === '' ? { token: user } : { user, pass: password };
}
