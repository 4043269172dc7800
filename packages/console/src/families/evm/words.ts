/** Recognizes pasted text about EVM chains. */
import type { PastedOfFamily } from '../../words/pasted.ts';

const ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const NAME = /^[^\s.,;:/\\]+(\.[^\s.,;:/\\]+)*\.eth$/iu;
const EVENT = /^[A-Za-z_$][\w$]*\s*\(/;
const EVENT_SIGNS = /^[\w$\s,[\]()]*;?$/;
const EVENT_END = /\)(?:\s?anonymous)?;?$/;

export function recognizeEvm(text: string): PastedOfFamily | undefined {
  const family = 'evm';
  if (ADDRESS.test(text)) {
    return { kind: 'address', family, what: 'EVM address', address: text, mayBePart: false };
  }
  if (NAME.test(text)) {
    return { kind: 'name', family, what: 'ENS name', name: text.toLowerCase(), isResolved: true };
  }
  const event = text.replace(/^event\s+/, '');
  if (EVENT.test(event) && EVENT_SIGNS.test(event) && EVENT_END.test(event)) {
    return {
      kind: 'event',
      family,
      what: 'event',
      event: text,
      command: 'Create a stream for this event',
      detail: text,
    };
  }
  if (!isAbi(text)) return undefined;
  return {
    kind: 'event',
    family,
    what: 'ABI',
    event: eventsOf(text),
    command: 'Create a stream for the events of this ABI',
    detail: 'ABI',
  };
}

function isAbi(text: string): boolean {
  if (!text.startsWith('[') && !text.startsWith('{')) return false;
  try {
    const value: unknown = JSON.parse(text);
    const items: unknown = Array.isArray(value) ? value : (value as { abi?: unknown }).abi;
    return Array.isArray(items) && items.some((item: unknown) => isAbiItem(item));
  } catch {
    return false;
  }
}

/** Returns whether a value is an ABI item: an object, or the signature of an event. */
const isAbiItem = (item: unknown): boolean =>
  typeof item === 'string'
    ? /^\s*event\s/.test(item)
    : typeof item === 'object' && item !== null && 'type' in item && 'inputs' in item;

/** Returns only the events of an ABI, because the other items would make the link longer. */
function eventsOf(abi: string): string {
  type Item = { type: string } | string;
  const value = JSON.parse(abi) as Item[] | { abi: Item[] };
  const items = Array.isArray(value) ? value : value.abi;
  return JSON.stringify(
    items.filter((item) =>
      typeof item === 'string' ? item.includes('event') : item.type === 'event',
    ),
  );
}
