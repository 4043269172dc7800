/** Derives the collection name of a stream's rows from the tag of the stream. */
import { sha256Hex } from './ids.ts';

/** Maximum number of cached names. Tags are untrusted input, so the cache must be bounded. */
export const MAX_CACHED_NAMES = 256;

export const cachedNames = new Map<string, string>();

/**
 * Converts a tag such as `my-COOL_tag 9` to `MyCool_tag9`: splits it at every character except `A-Z
 * a-z 0-9 _`, and joins the capitalized parts. If nothing remains, returns `Tag_` and eight hex
 * digits of the hash of the tag; the hosted SDK throws for such a tag.
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
    for (const oldest of cachedNames.keys()) {
      cachedNames.delete(oldest);
      break;
    }
  }
  cachedNames.set(tag, name);
  return name;
}
