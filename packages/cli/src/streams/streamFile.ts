/**
 * Reads and writes stream files (YAML) for `apply`, `export`, `streams create -f` and `dry-run -f`.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { CREATE_STREAM_SCHEMAS } from '../families/schemas.ts';
import type { ListedAddress } from '@sluice/kit/operator';
import { Document, isMap, parseDocument } from 'yaml';
import type * as z from 'zod';
import { CommandError } from '../terminal/errors.ts';
import { readAddressFile } from './addressFile.ts';
import { readSecretFile } from './oauth2Flags.ts';
import { findDestinationIssue } from './destinations.ts';
import { type Fields, withSomeSecret } from './streamFields.ts';
import { familyOfFields } from '@sluice/kit/contract';

export interface DeclaredStream {
  /** Tag that identifies the stream, unless `id` is set. */
  readonly tag: string;
  /** Id of the existing stream, required if its tag is empty or shared by several streams. */
  readonly id?: string | undefined;
  readonly fields: Fields;
  /**
   * Addresses of the stream; undefined if the file does not list addresses, so that the stream
   * keeps its addresses.
   */
  readonly addresses: ListedAddress[] | undefined;
  /** Additional destinations; undefined if the file does not list them, so that they are kept. */
  readonly destinations?: Fields[] | undefined;
}

/** Keys of an entry for its addresses, which are not fields of a stream. */
const ADDRESSES = 'addresses';
const ADDRESS_FILE = 'addressFile';
/** Key of an entry for its additional destinations. */
const DESTINATIONS = 'destinations';
/** Key of `oauth2` for the path of a file with the client secret. */
const SECRET_FILE = 'clientSecretFile';

/** @throws CommandError `invalid_file` that names the file and the problem. */
export function readStreamFile(path: string): DeclaredStream[] {
  const refuse = (message: string, fix?: string): CommandError =>
    new CommandError('invalid_file', `${path}: ${message}`, fix);
  const parsed = parseYaml(path);
  const list = isMapping(parsed) && 'streams' in parsed ? parsed['streams'] : [parsed];
  if (!Array.isArray(list))
    throw refuse('streams should be a list', 'begin each stream with "- tag: …"');
  const streams = list.map((each: unknown, at): DeclaredStream => {
    if (!isMapping(each)) throw refuse(`stream ${at + 1} should be a mapping of its fields`);
    const {
      tag,
      id,
      [ADDRESSES]: addresses,
      [ADDRESS_FILE]: file,
      [DESTINATIONS]: destinations,
      ...fields
    } = each;
    if (id !== undefined && typeof id !== 'string')
      throw refuse(`stream ${at + 1}: id should be text`);
    if (typeof tag !== 'string' || (tag === '' && id === undefined)) {
      throw refuse(`stream ${at + 1} has no tag`, 'give each stream a unique tag');
    }
    if (addresses !== undefined && file !== undefined) {
      throw refuse(`${tag} has both ${ADDRESSES} and ${ADDRESS_FILE}`, 'remove one of them');
    }
    return {
      tag,
      ...(id !== undefined && { id }),
      fields: { tag, ...withClientSecret(fields, dirname(path)) },
      addresses:
        typeof file === 'string'
          ? readAddressFile(resolve(dirname(path), file), familyOfFields(fields)).rows
          : toAddresses(addresses, (message) => refuse(`${tag}: ${message}`)),
      destinations: toDestinations(destinations, dirname(path), (message) =>
        refuse(`${tag}: ${message}`),
      ),
    };
  });
  const names = streams.map(({ id, tag }) => id ?? tag);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw refuse(
      `several streams have the tag or ID ${twice}`,
      'use unique tags, or add the ID of each stream, as sluice export does',
    );
  }
  return streams;
}

/** Replaces the path of the file with the client secret by its contents. */
function withClientSecret(fields: Fields, folder: string): Fields {
  const { oauth2 } = fields;
  if (!isMapping(oauth2) || typeof oauth2[SECRET_FILE] !== 'string') return fields;
  const { [SECRET_FILE]: file, ...others } = oauth2;
  const clientSecret = readSecretFile(resolve(folder, file));
  return { ...fields, oauth2: { ...others, clientSecret } };
}

/**
 * Validates the fields against the schema of the service, so that `apply --dry-run` rejects the
 * fields that the service would reject.
 *
 * @throws CommandError `invalid_file` that names the file, the stream and the field.
 */
export function checkFields(
  path: string,
  { tag, fields, destinations = [] }: DeclaredStream,
): void {
  const schema = CREATE_STREAM_SCHEMAS[familyOfFields(fields)];
  const given = { description: '', ...withSomeSecret(fields) };
  const refuse = (issue: z.core.$ZodIssue, place: string): CommandError => {
    const why =
      issue.code === 'unrecognized_keys'
        ? `unknown field: ${issue.keys.join(', ')}`
        : `${issue.path.join('.')}: ${issue.message}`;
    return new CommandError('invalid_file', `${path}: ${tag}: ${place}${why}`);
  };
  const issue = schema.safeParse(given).error?.issues[0];
  if (issue !== undefined) throw refuse(issue, '');
  for (const [n, destination] of destinations.entries()) {
    const other = findDestinationIssue(destination);
    if (other !== undefined) throw refuse(other, `${DESTINATIONS}[${n}]: `);
  }
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
      `${JSON.stringify(each)} in ${ADDRESSES} should be a quoted address, or {address, label}`,
    );
  });
}

function toDestinations(
  given: unknown,
  folder: string,
  refuse: (message: string) => CommandError,
): Fields[] | undefined {
  if (given === undefined || given === null) return undefined;
  if (!Array.isArray(given) || !given.every(isMapping)) {
    throw refuse(`${DESTINATIONS} should be a list of mappings with a webhookUrl`);
  }
  return given.map((fields) => withClientSecret(fields, folder));
}

const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * Returns the text of a file that `readStreamFile` reads back unchanged.
 *
 * @param commentsOf returns the comments above a stream
 */
export function writeStreamFile(
  streams: readonly DeclaredStream[],
  commentsOf: (stream: DeclaredStream) => readonly string[] = () => [],
): string {
  const content = {
    streams: streams.map(({ tag, id, fields, addresses, destinations = [] }) => ({
      ...(id !== undefined && { id }),
      tag,
      ...fields,
      ...(destinations.length > 0 && { [DESTINATIONS]: destinations }),
      ...(addresses && {
        [ADDRESSES]: addresses.map(({ address, label }) =>
          label === undefined ? address : { address, label },
        ),
      }),
    })),
  };
  const document = new Document(content, { aliasDuplicateObjects: false });
  for (const [n, stream] of streams.entries()) {
    const lines = commentsOf(stream).map((comment) => ` ${comment}`);
    const node = document.getIn(['streams', n]);
    if (isMap(node) && lines.length > 0) node.commentBefore = lines.join('\n');
  }
  return document.toString();
}
