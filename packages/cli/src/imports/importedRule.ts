/** A rule of another product as a stream, and the parts of the rule that the stream lacks. */
import { readFileSync, statSync } from 'node:fs';
import type { DeclaredStream } from '../streams/streamFile.ts';
import type { Fields } from '../streams/streamFields.ts';
import { CommandError } from '../terminal/errors.ts';

/** A part of a rule that the stream does not have. */
export interface Unmapped {
  /** Path of the part in the rule. */
  readonly field: string;
  readonly why: string;
}

export interface ImportedRule {
  readonly file: string;
  readonly name: string;
  /** Undefined if no stream matches what the rule matches. */
  readonly stream: DeclaredStream | undefined;
  readonly unmapped: readonly Unmapped[];
}

/** Larger files are not read: a rule with the ABIs of its contracts takes a few hundred kB. */
const MAX_FILE_MIB = 16;

/** The values of a JSON file. Each method throws a CommandError that names the file and the field. */
export interface RuleFile {
  readonly path: string;
  readonly content: unknown;
  object(value: unknown, field: string): Fields;
  /** Returns an empty list for a missing value. */
  list(value: unknown, field: string): readonly unknown[];
  text(value: unknown, field: string): string;
  /** Returns undefined for a missing value and for empty text. */
  optionalText(value: unknown, field: string): string | undefined;
}

/** @throws CommandError `invalid_file` */
export function readRuleFile(path: string): RuleFile {
  const refuse = (message: string): CommandError =>
    new CommandError('invalid_file', `${path}: ${message}`);
  const expect = (field: string, expected: string): CommandError =>
    refuse(`${field === '' ? 'the content' : field} should be ${expected}`);
  const text = (value: unknown, field: string): string => {
    if (typeof value === 'string' && value !== '') return value;
    throw expect(field, 'text');
  };
  const isMissing = (value: unknown): boolean => value === undefined || value === null;
  return {
    path,
    content: parseFile(path, refuse),
    object(value, field) {
      if (isObject(value)) return value;
      throw expect(field, 'an object');
    },
    list(value, field) {
      if (isMissing(value)) return [];
      if (Array.isArray(value)) return value;
      throw expect(field, 'a list');
    },
    text,
    optionalText: (value, field) =>
      isMissing(value) || value === '' ? undefined : text(value, field),
  };
}

function parseFile(path: string, refuse: (message: string) => CommandError): unknown {
  try {
    if (statSync(path).size > MAX_FILE_MIB * 2 ** 20) {
      throw new Error(`the file is larger than ${MAX_FILE_MIB} MiB`);
    }
    return JSON.parse(readFileSync(path, 'utf8'), (key, value: unknown) => {
      // Half of a surrogate pair cannot be written to a UTF-8 file.
      if (![key, value].every((each) => typeof each !== 'string' || each.isWellFormed())) {
        throw new Error('text has half of a surrogate pair, such as \\ud800');
      }
      return value;
    });
  } catch (error) {
    throw refuse((error as Error).message);
  }
}

export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
