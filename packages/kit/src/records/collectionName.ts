/** The name under which the rows of a stream are kept. */
import { sha256Hex } from './ids.ts';

/** A service has few tags, but they come from outside: what is kept of them is bounded. */
export const MAX_CACHED_NAMES = 256;

export const cachedNames = new Map<string, string>();

/**
 * `my-cool_tag 9` is `MyCool_tag9`: the parts between anything but `A-Z a-z 0-9 _` with their first
 * letter upper and the rest lower case. A tag without such a part, for which the hosted SDK throws,
 * becomes `Tag_` and eight hex digits that differ from one such tag to the next.
 */
export function collectionNameOf(tag: string): string {
  const cached = cachedNames.get(tag);
  if (cached !== undefined) return cached;
  const name =
    tag
      .split(/[^A-Za-z0-9_]/)
      .map((part) => part.slice(0, 1).toUpperCase() + part.slice(1).toLowerCase())
      .join('') || `Tag_${sha256Hex(tag).slice(2, 10)}`;
  if (cachedNames.size >= MAX_CACHED_NAMES) {
    // The oldest makes room.
    for (const oldest of cachedNames.keys()) {
      cachedNames.delete(oldest);
      break;
    }
  }
  cachedNames.set(tag, name);
  return name;
}
