/** Events as people have them: an ABI as JSON, or signatures as in Solidity. Loads a parser, so lazily. */
import type { AbiItem } from '@sluice/kit';
import { parseEventSignature } from '@sluice/kit/contract';
import { parseAbiItem } from 'abitype';
import { isEvent, linesOf } from './draft.ts';

export interface ParsedEvents {
  /** With names and what is indexed: these can be decoded. */
  items: AbiItem[];
  /** Only what is matched: canonical text, or a hash. */
  signatures: string[];
}

/** @throws Error that says what is wrong, for people. */
export function parseEvents(text: string): ParsedEvents {
  const trimmed = text.trim();
  if (trimmed.startsWith('[') || trimmed.startsWith('{')) {
    return { items: eventsOfJson(trimmed), signatures: [] };
  }
  const found: ParsedEvents = { items: [], signatures: [] };
  for (const line of linesOf(trimmed)) {
    const parsed = parseEventSignature(line.replace(/;$/, ''));
    if (parsed === undefined) {
      throw new Error(`“${line}” is no event such as Transfer(address,address,uint256)`);
    }
    const item = /\bindexed\b/.test(line) ? parseHumanReadable(line) : undefined;
    if (item === undefined) found.signatures.push(parsed.signature ?? parsed.topic0);
    else found.items.push(item);
  }
  return found;
}

function parseHumanReadable(line: string): AbiItem | undefined {
  const text = line.replace(/;$/, '');
  try {
    const item: unknown = parseAbiItem(/^event\s/.test(text) ? text : `event ${text}`);
    return item as AbiItem;
  } catch {
    return undefined;
  }
}

function eventsOfJson(text: string): AbiItem[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(`The ABI is no JSON: ${error instanceof Error ? error.message : ''}`, {
      cause: error,
    });
  }
  const inner: unknown =
    typeof value === 'object' && value !== null && 'abi' in value ? value.abi : value;
  const items = (Array.isArray(inner) ? inner : [inner]) as AbiItem[];
  const events = items.filter((item) => typeof item === 'object' && item !== null && isEvent(item));
  if (events.length === 0) throw new Error('The ABI has no events');
  return events;
}
