/** Masks secrets in URLs and other text, and finds URLs that contain a secret. */
import { hideSecrets } from '@sluice/service/hideSecrets';

/**
 * Matches a part of a URL or text that looks like the key of a node provider: at least 20 letters,
 * digits, `_` or `-`, including a digit.
 */
const TOKEN = /^(?=.*\d)[\w-]{20,}$/;
const URL_START = /^[\w+.-]+:\/\//;
/** Matches the host and path of each URL in text. */
const PLACES = /:\/\/[^\s"'<>?#,]*/g;
/** Minimum length of a key in the path of a URL, in characters. */
const MIN_KEY = 10;
/** Matches `mainnet`, `Mainnet`, `fullNode`, `BSC`, `chain137` and references such as `{address}`. */
const WORD =
  /^(([A-Z]?[a-z]{0,14}|[A-Z]?[a-z]{2,14}([A-Z][a-z]{2,14}){1,4}|[A-Z]{1,14})\d{0,8}|\$?\{\w{1,100}\})$/;

/** Returns whether a part of a URL's path is not made of words, so that it may be a key. */
const isKey = (part: string): boolean =>
  part.length >= MIN_KEY && !part.split(/[-_.]/).every((word) => WORD.test(word));

/** Masks the keys in the path after a host. */
const maskPath = (place: string): string => {
  const [colon = '', slash = '', host = '', ...path] = place.split('/');
  return [colon, slash, host, ...path.map((part) => (isKey(part) ? '***' : part))].join('/');
};

/** Replaces logins and query values in URLs, and parts that look like a key, with `***`. */
export const maskText = (text: string): string =>
  hideSecrets(text)
    .replaceAll(PLACES, maskPath)
    .split(/([/\s,"?#]+)/)
    .map((part) => (TOKEN.test(part) ? '***' : part))
    .join('');

/** Returns whether the text is a URL that contains a password, a query value or a key. */
export const hasSecret = (text: string): boolean =>
  URL_START.test(text) && maskText(text) !== text && !isBareLogin(text);

/**
 * Returns whether the only masked part of a URL is a login without a password, such as
 * `postgres://sluice@host/db`, which is not a secret.
 */
function isBareLogin(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username === '' || url.password !== '') return false;
  const withoutLogin = text.slice(0, text.indexOf('//') + 2) + text.slice(text.indexOf('@') + 1);
  return maskText(withoutLogin) === withoutLogin;
}
