/** The collection name of a stream's rows. */
import { sha256Hex } from './ids.ts';

/** Services use few tags, but these are untrusted input, so the cache is bounded. */
export const MAX_CACHED_NAMES = 256;

export const cachedNames = new Map<string, string>();

/**
 * Converts `my-cool_tag 9` to `MyCool_tag9`: splits at anything but `A-Z a-z 0-9 _` and capitalizes
 * the parts. A tag without parts becomes `Tag_` and eight hex digits of its hash; the hosted SDK
 * throws for it.
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
    // Drops the oldest entry.
    for (const oldest of cachedNames.keys()) {
      cachedNames.delete(oldest);
      break;
    }
  }
  cachedNames.set(tag, name);
  return name;
}
