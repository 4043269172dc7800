/** Reads the webhook URL of a queue. */
import { type QueueBroker, type QueueServers, parseBrokerUrl } from '@sluice/kit/contract';
import { type CleanText, cleanReceiverText } from '../../../base/foreignText.ts';
import type { Place } from '../connections.ts';
import { type Login, readLogin } from '../login.ts';

/** A parsed webhook URL, with the part that only its kind of broker has. */
export type QueueTarget<Part extends object = object> = QueueServers & Part & TargetPlace;

interface TargetPlace extends Place {
  url: URL;
  /** The scheme, login, hosts and port, and what else a connection is bound to. */
  place: string;
  login: Login | undefined;
  /** Hides the login in texts of the broker. */
  clean: CleanText;
}

/** @param scopeOf returns what a connection is bound to besides the server and the login */
export function readTarget<Part extends object>(
  broker: QueueBroker<Part>,
  text: string,
  scopeOf: (part: Part) => string,
): QueueTarget<Part> {
  const url = new URL(text);
  const { protocol, username, password, host } = url;
  const server = `${protocol}//${username}:${password}@${host}`;
  const parsed = parseBrokerUrl(broker, text);
  return {
    ...parsed,
    url,
    place: `${server}/${scopeOf(parsed)}`,
    login: readLogin(url),
    clean: cleanReceiverText(server),
  };
}
