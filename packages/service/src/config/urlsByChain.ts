/** Reads settings that have a URL per chain: `<chain>=<url>` on the command line. */
import { InvalidValue } from './setting.ts';

export function readUrlsByChain(
  texts: readonly string[],
  {
    toId,
    isRight = () => true,
    form,
  }: {
    toId(text: string): string | undefined;
    isRight?(url: string): boolean;
    /** Expected form of a text, with an example. */
    form: string;
  },
): Record<string, string> {
  const urls: Record<string, string> = {};
  for (const text of texts) {
    const separator = Math.max(0, text.indexOf('='));
    const id = toId(text.slice(0, separator));
    const url = text.slice(separator + 1);
    const protocol = URL.parse(url)?.protocol;
    // Messages omit the URL, which may contain a key.
    const shown = `${id ?? text.slice(0, separator)}=…`;
    if (id === undefined || !isRight(url) || !/^https?:$/.test(protocol ?? '')) {
      throw new InvalidValue(text, `should be ${form}`, shown);
    }
    if (urls[id] !== undefined) throw new InvalidValue(text, 'is given twice', shown);
    urls[id] = url;
  }
  return urls;
}
