/** Streams in a YAML file: `sluice apply`, `export`, `streams create -f`, `dry-run -f`. */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseDocument, stringify } from 'yaml';
import { CommandError } from '../terminal/errors.ts';
import { type ListedAddress, readAddressFile } from './addressFile.ts';
import type { Fields } from './streamFields.ts';

/** A stream as a file declares it. */
export interface DeclaredStream {
  /** What tells it from the others of the file. */
  readonly tag: string;
  readonly fields: Fields;
  /** Undefined where the file leaves the list to others. */
  readonly addresses: ListedAddress[] | undefined;
}

/** Keys that are no fields of a stream. */
const ADDRESSES = 'addresses';
const ADDRESS_FILE = 'addressFile';

/** @throws CommandError `invalid_file` that names the file, the place and the fix. */
export function readStreamFile(path: string): DeclaredStream[] {
  const refuse = (message: string, fix?: string): CommandError =>
    new CommandError('invalid_file', `${path}: ${message}`, fix);
  const parsed = parseYaml(path);
  const list = isMapping(parsed) && 'streams' in parsed ? parsed['streams'] : [parsed];
  if (!Array.isArray(list))
    throw refuse('streams should be a list', 'begin each stream with "- tag: …"');
  const streams = list.map((each: unknown, at): DeclaredStream => {
    if (!isMapping(each)) throw refuse(`stream ${at + 1} should be a mapping of its fields`);
    const { tag, [ADDRESSES]: addresses, [ADDRESS_FILE]: file, ...fields } = each;
    if (typeof tag !== 'string' || tag === '') {
      throw refuse(
        `stream ${at + 1} has no tag`,
        'give each stream a tag of its own: it tells which is which',
      );
    }
    if (addresses !== undefined && file !== undefined) {
      throw refuse(`${tag} has both ${ADDRESSES} and ${ADDRESS_FILE}`, 'keep one of them');
    }
    return {
      tag,
      fields: { tag, ...fields },
      addresses:
        typeof file === 'string'
          ? readAddressFile(resolve(dirname(path), file)).addresses
          : toAddresses(addresses, (message) => refuse(`${tag}: ${message}`)),
    };
  });
  const tags = streams.map(({ tag }) => tag);
  const twice = tags.find((tag, at) => tags.indexOf(tag) !== at);
  if (twice !== undefined) throw refuse(`two streams have the tag ${twice}`);
  return streams;
}

function parseYaml(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new CommandError('invalid_file', `${path}: ${(error as Error).message}`);
  }
  const document = parseDocument(text);
  const [problem] = document.errors;
  if (problem) throw new CommandError('invalid_file', `${path}: ${problem.message}`);
  return document.toJS() as unknown;
}

function toAddresses(
  given: unknown,
  refuse: (message: string) => CommandError,
): ListedAddress[] | undefined {
  if (given === undefined || given === null) return undefined;
  if (!Array.isArray(given)) throw refuse(`${ADDRESSES} should be a list`);
  return given.map((each: unknown) => {
    if (typeof each === 'string') return { address: each };
    if (isMapping(each) && typeof each['address'] === 'string') {
      const { address, label } = each;
      return { address, ...(typeof label === 'string' && { label }) };
    }
    throw refuse(
      `${JSON.stringify(each)} among its ${ADDRESSES} should be a quoted address, or {address, label}`,
    );
  });
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text of a file that `readStreamFile` reads back to the same. */
export const writeStreamFile = (streams: readonly DeclaredStream[]): string =>
  stringify({
    streams: streams.map(({ tag, fields, addresses }) => ({
      tag,
      ...fields,
      ...(addresses && {
        [ADDRESSES]: addresses.map(({ address, label }) =>
          label === undefined ? address : { address, label },
        ),
      }),
    })),
  });
