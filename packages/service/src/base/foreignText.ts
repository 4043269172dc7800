/**
 * Cleans and masks the text of nodes, receivers and other servers. Each such text passes through
 * here where it enters the service, before it is cut, logged, stored or shown.
 */
import { hideSecrets } from './hideSecrets.ts';

/**
 * Matches characters without a visible form: control and format characters, separators of lines,
 * marks that change the writing direction, variation selectors and fillers.
 */
export const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const PLAIN = /^[\x20-\x7e]*$/;
const PLAIN_LINES = /^[\x20-\x7e\n\t]*$/;

/** Puts text on one line and removes its invisible characters. */
export const cleanLine = (text: string): string =>
  PLAIN.test(text) ? text : text.replaceAll(/\s+/gu, ' ').replaceAll(INVISIBLE, '').trim();

/** Removes the invisible characters of text, but keeps its lines and tabs. */
const cleanLines = (text: string): string =>
  PLAIN_LINES.test(text)
    ? text
    : text.replaceAll(INVISIBLE, (character) => (/[\n\r\t]/.test(character) ? character : ''));

/** Cleans and masks text of one server. */
export type CleanText = (text: string) => string;

/**
 * Returns a function that puts a node's text on one line, without invisible characters, and masks
 * the secrets of the node's URL wherever the text repeats them: the login, the parts of the path,
 * which may be keys, and the query values, in any case and with any escapes.
 */
export function cleanNodeText(url: string): CleanText {
  const mask = createMask(url, () => true);
  return (text) => mask(cleanLine(text));
}

/**
 * Returns a function like that of {@link cleanNodeText} for the URL of a receiver. It keeps the
 * lines of the text, and the parts of the path that are words, because they explain a response such
 * as `Cannot POST /webhooks`.
 */
export function cleanReceiverText(url: string): CleanText {
  const mask = createMask(url, (part) => !WORDS.test(part));
  return (text) => mask(cleanLines(text));
}

/** Matches words of letters, such as `webhooks` or `new-orders`, but few keys. */
const WORDS = /^[A-Za-z][a-z]{0,15}(?:[-_.][A-Za-z][a-z]{0,15})*$/;

/** Minimum length of a secret. Shorter parts are masked only in complete URLs. */
const SHORTEST = 6;
/**
 * Number of characters from which the start of a secret is masked too, because the text may have
 * been cut.
 */
const SHORTEST_START = 8;

interface Secret {
  text: string;
  /** The start of the secret that is masked even if the rest does not follow. */
  start: string;
}

function createMask(url: string, isSecretPart: (part: string) => boolean): CleanText {
  const { username, password, pathname, search, searchParams } = new URL(url);
  const login = `${username}:${password}`;
  const parts = [
    ...[username, password, Buffer.from(decode(login).plain).toString('base64')],
    ...pathname.split('/').filter(isSecretPart),
    ...[...searchParams].map(([name, value]) => value || name),
  ];
  // Secrets that are too short to be masked alone.
  const pairs = [login, ...search.slice(1).split('&')];
  const secrets: Secret[] = [
    ...parts.map((part) => ({ text: decode(part).text, length: SHORTEST_START })),
    ...pairs.map((pair) => ({ text: decode(pair).text, length: Infinity })),
  ]
    .filter(({ text }) => text.length >= SHORTEST)
    .map(({ text, length }) => ({ text, start: text.slice(0, length) }));
  return (text) => (text === '' ? text : hideSecrets(hideAll(text, secrets)));
}

/** Replaces each secret in the text, and each start of one. */
function hideAll(text: string, secrets: readonly Secret[]): string {
  if (secrets.length === 0) return text;
  const decoded = decode(text);
  const hidden = new Uint8Array(text.length + 1);
  let isFound = false;
  for (const { text: secret, start } of secrets) {
    for (let at = decoded.text.indexOf(start); at >= 0; at = decoded.text.indexOf(start, at + 1)) {
      let end = at + start.length;
      while (end - at < secret.length && decoded.text[end] === secret[end - at]) end++;
      hidden.fill(1, decoded.from[at], decoded.from[end]);
      isFound = true;
    }
  }
  if (!isFound) return text;
  let shown = '';
  for (let at = 0; at < text.length; at++) {
    if (hidden[at] === 0) shown += text[at];
    else if (hidden[at - 1] !== 1) shown += '***';
  }
  return shown;
}

/** Matches an escape of a URL, of JSON or of HTML, which may itself be escaped. */
const ESCAPE = /%(?:25){0,8}([\da-f]{2})|\\{1,8}(?:u00|x)([\da-f]{2})|\\{1,8}(?=\/)|&amp;/iy;

/**
 * Removes the escapes of URLs and JSON, and the case.
 *
 * @returns `text` with the character at `n` written in the given text from `from[n]` to
 *   `from[n + 1]`, and `plain` with its case
 */
function decode(given: string): { text: string; plain: string; from: Uint32Array } {
  const from = new Uint32Array(given.length + 1);
  let plain = '';
  const add = (character: string, at: number): void => {
    from[plain.length] = at;
    plain += character;
  };
  for (let at = 0; at < given.length;) {
    const character = given[at]!;
    if (character === '%' || character === '\\' || character === '&') {
      ESCAPE.lastIndex = at;
      const found = ESCAPE.exec(given);
      if (found !== null) {
        const digits = found[1] ?? found[2];
        if (digits !== undefined) add(String.fromCharCode(Number.parseInt(digits, 16)), at);
        else if (found[0].startsWith('&')) add('&', at);
        at += found[0].length;
        continue;
      }
    }
    add(character, at);
    at++;
  }
  from[plain.length] = given.length;
  return { text: lower(plain), plain, from };
}

/** Returns the text in lowercase; unlike `toLowerCase`, keeps its length. */
const lower = (text: string): string =>
  text.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
