/** Reads the webhook URL of a queue. */
import { type QueueBroker, type QueueServers, parseBrokerUrl } from '@sluice/kit/contract';
import { type CleanText, cleanReceiverText } from '../../../base/foreignText.ts';
import type { Place } from '../connections.ts';
import { type Login, readLogin } from '../login.ts';

/** A parsed webhook URL, with the part that only its kind of broker has. */
export type QueueTarget<Part extends object = object> = QueueServers & Part & TargetPlace;

interface TargetPlace extends Place {
  url: URL;
  /** The scheme, login, hosts and port. */
  place: string;
  login: Login | undefined;
  /** Hides the login in texts of the broker. */
  clean: CleanText;
}

export function readTarget<Part extends object>(
  broker: QueueBroker<Part>,
  text: string,
): QueueTarget<Part> {
  const url = new URL(text);
  const { protocol, username, password, host } = url;
  const place = `${protocol}//${username}:${password}@${host}`;
  return {
    ...parseBrokerUrl(broker, text),
    url,
    place,
    login: readLogin(url),
    clean: cleanReceiverText(place),
  };
}
