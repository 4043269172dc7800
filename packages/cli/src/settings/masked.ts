/** Masks secrets in URLs and other text, and finds URLs that contain a secret. */
import { hideSecrets } from '@sluice/service/hideSecrets';

/**
 * Matches a part of a URL or text that looks like the key of a node provider: at least 20 letters,
 * digits, `_` or `-`, including a digit.
 */
const TOKEN = /^(?=.*\d)[\w-]{20,}$/;
const URL_START = /^[\w+.-]+:\/\//;

/** Replaces logins and query values in URLs, and parts that look like a key, with `***`. */
export const maskText = (text: string): string =>
  hideSecrets(text)
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
