/** Explains lines of a webhook body, such as amounts and parameters. Bodies are untrusted. */
import { KNOWN_EVENTS } from '@sluice/kit/contract';
import { amountOf, type DecodedRecord, type Json } from './decodedRecord.ts';
import { createLogReader } from '../families/body.ts';
import { formatHash } from '../ui/text/format.ts';

/** Returns the note of a line, or an empty string. */
export type NoteOf = (key: string, value: unknown, parent: unknown) => string;

/** Notes of a log by member key; the key `''` is for the log itself. */
type LogNotes = ReadonlyMap<string, string>;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isLog = (value: unknown): value is Json =>
  isRecord(value) && typeof value['topic0'] === 'string';

/**
 * Returns a function that explains lines of a body. It decodes a log only when one of the log's
 * lines is rendered, because most logs are never visible.
 */
export function createNotes(body: unknown): NoteOf {
  const readLog = createLogReader(body);
  const known = new WeakMap<Json, LogNotes>();
  const notesOf = (log: Json): LogNotes => {
    const notes = known.get(log) ?? toLogNotes(log, readLog?.(log));
    known.set(log, notes);
    return notes;
  };
  return (key, value, parent) => {
    if (isLog(value)) return notesOf(value).get('') ?? '';
    if (isRecord(value)) return amountOf(value);
    if (typeof value !== 'string') return '';
    if (isLog(parent)) return notesOf(parent).get(key) ?? '';
    if (key === 'value' && isRecord(parent)) return amountOf(parent);
    if (key === 'timestamp' && /^\d{9,11}$/.test(value)) {
      return `${new Date(Number(value) * 1000).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
    }
    return '';
  };
}

/** Matches the names of decoded fields that are not parameters of the event. */
const NO_PARAMETER = /^(contract|data|topic\d|triggered by|trigger .*)$/;

const TOPICS = ['topic1', 'topic2', 'topic3'];

function toLogNotes(log: Json, record: DecodedRecord | undefined): LogNotes {
  const topic0 = String(log['topic0']);
  const notes = new Map([['topic0', KNOWN_EVENTS[topic0] ?? '']]);
  if (record === undefined || record.unknown) return notes;
  const { title, about, fields } = record;
  const parameters = fields.filter(({ name }) => !NO_PARAMETER.test(name));
  const amount = parameters.find(({ note }) => note !== '')?.note;
  notes.set('', [title, amount ?? about].filter((part) => part !== '').join(' '));
  if (notes.get('topic0') === '') notes.set('topic0', title);
  const inData: string[] = [];
  // Topics contain the indexed parameters in order; all other parameters are in the data.
  for (const { name, value, note } of parameters) {
    const word = wordOf(value);
    const topic = TOPICS.find(
      (each) => !notes.has(each) && String(log[each]).toLowerCase() === word,
    );
    const described = `${name} ${note === '' ? shorten(value) : note}`;
    if (topic === undefined) inData.push(described);
    else notes.set(topic, described);
  }
  if (inData.length > 0) notes.set('data', inData.join(', '));
  return notes;
}

const shorten = (value: string): string =>
  /^0x[0-9a-f]{40,}$/i.test(value) ? formatHash(value) : value;

/**
 * Encodes a hex string, number or boolean as a 32-byte topic; returns an empty string for other
 * values.
 */
function wordOf(value: string): string {
  if (/^0x[0-9a-f]{1,64}$/i.test(value))
    return `0x${value.slice(2).padStart(64, '0')}`.toLowerCase();
  if (value === 'true' || value === 'false') return wordOf(value === 'true' ? '1' : '0');
  if (!/^-?\d{1,78}$/.test(value)) return '';
  return `0x${BigInt.asUintN(256, BigInt(value)).toString(16).padStart(64, '0')}`;
}
