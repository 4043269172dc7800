/** Reads a settings file (YAML): the values of settings, and where each one is written. */
import { statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { findNearest } from '@sluice/kit/contract';
import { FIELDS, type Field, kindOf, schemaOf, settingOf, splitNodeOptions } from '@sluice/service';
import { readRegularFile } from '@sluice/service/regularFile';
import { LineCounter, type Node, isMap, isScalar, isSeq, parseDocument } from 'yaml';
import { CommandError } from '../terminal/errors.ts';
import { cutText } from '../terminal/text.ts';
import { hasSecret, maskText } from './masked.ts';

/** A value from the settings file; `text` has the form of the command line. */
export interface WrittenText {
  text: string;
  /** The value as written in the file, before its references are resolved. */
  written: string;
  /** `FILE:LINE:COLUMN`. */
  place: string;
}

export interface FileSetting {
  /** `FILE:LINE:COLUMN` of the field. */
  place: string;
  /** One entry for a single value; otherwise, one entry per list item, chain or node. */
  texts: WrittenText[];
}

export interface SettingsFile {
  settings: Map<Field, FileSetting>;
  /** Names of the environment variables that the file refers to. */
  variables: Set<string>;
  /** Errors in settings. Invalid settings are missing from `settings`. */
  errors: CommandError[];
}

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_SECRET_BYTES = 64 * 1024;
const MAX_SHOWN = 60;
const OTHERS_CAN_READ_OR_WRITE = 0o066;

/** Masks and truncates a value for an error message. */
export const toShown = (text: string): string => cutText(maskText(text), MAX_SHOWN);

/**
 * Reads a settings file and resolves its references: `file:PATH`, relative to the folder of the
 * settings file, and `${NAME}`.
 *
 * @throws CommandError `invalid_file` that names the file and, if it is not YAML, the position
 */
export function readSettingsFile(
  path: string,
  env: Readonly<Record<string, string | undefined>>,
): SettingsFile {
  const reader = new Reader(path, env);
  return { settings: reader.read(), variables: reader.variables, errors: reader.errors };
}

class Reader {
  readonly variables = new Set<string>();
  readonly errors: CommandError[] = [];
  private readonly lines = new LineCounter();
  private readonly path: string;
  private readonly env: Readonly<Record<string, string | undefined>>;

  constructor(path: string, env: Readonly<Record<string, string | undefined>>) {
    this.path = path;
    this.env = env;
  }

  read(): Map<Field, FileSetting> {
    const text = readBounded(this.path, MAX_FILE_BYTES, this.path);
    // Reads every value as a string, as in a flag. Otherwise, YAML would read the chain 0x1 as the
    // number 1.
    const document = parseDocument(text, { schema: 'failsafe', lineCounter: this.lines });
    const [problem] = document.errors;
    if (problem) {
      const [what = ''] = problem.message.split(' at line ');
      throw this.fail(problem.pos[0], what);
    }
    const settings = new Map<Field, FileSetting>();
    if (document.contents === null) return settings;
    for (const { name, key, value } of this.entries(document.contents, 'the settings')) {
      try {
        const field = this.readField(name, key);
        const texts = this.readSetting(field, value);
        settings.set(field, { place: this.placeOf(startOf(key)), texts });
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        this.errors.push(error);
      }
    }
    return settings;
  }

  private readField(name: string, key: Node): Field {
    const field = FIELDS.find((each) => each === name);
    if (field !== undefined) return field;
    const near = findNearest(name, FIELDS);
    throw this.fail(
      startOf(key),
      `unknown setting ${toShown(name)}. ${near ? `Did you mean ${near}?` : 'Remove it.'}`,
    );
  }

  private readSetting(field: Field, value: Node | null): WrittenText[] {
    const { isPath = false, isSecret = false } = settingOf(field);
    const kind = kindOf(field);
    if (kind === 'list') {
      return this.items(value, field).map((each, n) => this.scalar(each, `${field}[${n}]`));
    }
    if (kind === 'textByChain') {
      return this.entries(value, field).map(({ name, value: each }) => {
        const one = this.scalar(each, `${field}.${name}`, { isPath });
        return { ...one, text: `${name}=${one.text}`, written: `${name}=${one.written}` };
      });
    }
    if (kind === 'nodesByChain') {
      return this.entries(value, field).flatMap(({ name, value: each }) =>
        this.readNodes(`${field}.${name}`, name, each, nodeOptionsOf(field)),
      );
    }
    const one = this.scalar(value, field, { isPath, isSecret });
    if (kind === 'switch' && !/^(true|false)$/.test(one.text)) {
      throw this.fail(startOf(value), `${field} ${toShown(one.written)}: should be true or false`);
    }
    return [one];
  }

  /**
   * Builds the values of `--chain` or `--aptos`: one per node, with the options after the first
   * node.
   */
  private readNodes(
    where: string,
    chain: string,
    value: Node | null,
    options: readonly string[],
  ): WrittenText[] {
    const all = this.entries(value, where);
    const wrong = all.find(({ name }) => !options.includes(name));
    if (wrong) {
      throw this.fail(
        startOf(wrong.key),
        `${where} ${toShown(wrong.name)}: should be one of ${options.join(', ')}`,
      );
    }
    const nodes = all.find(({ name }) => name === 'nodes');
    const urls = nodes ? this.items(nodes.value, `${where}.nodes`) : [];
    if (urls.length === 0) {
      throw this.fail(startOf(nodes?.key ?? value), `${where}: needs nodes, a list of URLs`);
    }
    const given = all
      .filter(({ name }) => name !== 'nodes')
      .map(({ name, value: each }) => {
        const one = this.scalar(each, `${where}.${name}`);
        // On the command line, these characters separate options.
        if (/[,=]/.test(one.text)) {
          throw this.fail(
            startOf(each),
            `${where}.${name} ${toShown(one.written)}: should not contain a comma or =`,
          );
        }
        return [name, one] as const;
      });
    const suffix = (kind: 'text' | 'written'): string =>
      given.map(([name, one]) => `,${name}=${one[kind]}`).join('');
    return urls.map((each, n) => {
      const one = this.scalar(each, `${where}.nodes[${n}]`);
      const [option] = splitNodeOptions(one.text).options;
      if (option !== undefined) {
        throw this.fail(
          startOf(each),
          `${where}.nodes[${n}] ${toShown(one.written)}: should be a URL without ,${option[0]}=…. Set ${option[0]} next to nodes.`,
        );
      }
      const [text, written] = n === 0 ? [suffix('text'), suffix('written')] : ['', ''];
      return {
        text: `${chain}=${one.text}${text}`,
        written: `${chain}=${one.written}${written}`,
        place: one.place,
      };
    });
  }

  private scalar(
    node: Node | null,
    where: string,
    { isPath = false, isSecret = false } = {},
  ): WrittenText {
    if (!isScalar(node)) throw this.fail(startOf(node), `${where}: should be a single value`);
    const written = String(node.value);
    if (written === '') {
      throw this.fail(startOf(node), `${where}: should not be empty. Set it, or remove it.`);
    }
    const literal = literalPart(written);
    if (hasSecret(literal) || (isSecret && literal !== '')) this.refuseIfShared(node, where);
    const text = this.resolve(node, where, written);
    return {
      text: isPath ? resolve(dirname(this.path), text) : text,
      written,
      place: this.placeOf(startOf(node)),
    };
  }

  private resolve(node: Node, where: string, written: string): string {
    if (written.startsWith('file:')) {
      const path = resolve(dirname(this.path), written.slice('file:'.length));
      const text = readBounded(
        path,
        MAX_SECRET_BYTES,
        `${this.placeOf(startOf(node))}: ${where} ${toShown(written)}`,
      ).trim();
      if (text !== '') return text;
      throw this.fail(startOf(node), `${where} ${toShown(written)}: the file should not be empty`);
    }
    return written.replaceAll(/\$\{(\w{1,100})\}/g, (reference, name: string) => {
      this.variables.add(name);
      const value = this.env[name];
      if (value !== undefined && value !== '') return value;
      throw this.fail(startOf(node), `${where} ${reference}: should be set. Set ${name}.`);
    });
  }

  private refuseIfShared(node: Node, where: string): void {
    // On Windows, the mode does not show who can read the file.
    if (process.platform === 'win32') return;
    const mode = statSync(this.path).mode & 0o777;
    if ((mode & OTHERS_CAN_READ_OR_WRITE) === 0) return;
    throw this.fail(
      startOf(node),
      `${where} ***: should not be in a file that others can read or write (mode ${mode.toString(8)})`,
      `refer to the secret as file:PATH or \${VARIABLE}, or run chmod 600 ${this.path}`,
    );
  }

  private entries(node: Node | null, where: string) {
    if (!isMap<Node, Node | null>(node)) {
      throw this.fail(startOf(node), `${where}: should be a mapping of names to values`);
    }
    return node.items.map(({ key, value }) => {
      if (!isScalar(key)) throw this.fail(startOf(key), `${where}: a name should be text`);
      return { name: String(key.value), key, value };
    });
  }

  private items(node: Node | null, where: string): (Node | null)[] {
    if (isSeq<Node | null>(node)) return node.items;
    throw this.fail(startOf(node), `${where}: should be a list`);
  }

  private placeOf(offset: number): string {
    const { line, col } = this.lines.linePos(offset);
    return `${this.path}:${line}:${col}`;
  }

  private fail(offset: number, message: string, fix?: string): CommandError {
    return new CommandError('invalid_file', `${this.placeOf(offset)}: ${message}`, fix);
  }
}

/** Returns the names in the entry of a chain: `nodes` and the options. */
function nodeOptionsOf(field: Field): string[] {
  const { additionalProperties: entry } = schemaOf(field);
  return typeof entry === 'object' ? Object.keys(entry.properties ?? {}) : [];
}

/** Removes references, and query parameters whose value consists only of references. */
const literalPart = (written: string): string =>
  written.startsWith('file:')
    ? ''
    : written.replaceAll(/\$\{\w{1,100}\}/g, '').replaceAll(/[?&][\w-]{1,50}=(?=&|#|$)/g, '');

const startOf = (node: Node | null): number => node?.range?.[0] ?? 0;

/** @param where the file or setting to name in an error */
function readBounded(path: string, limit: number, where: string): string {
  try {
    return readRegularFile(path, limit);
  } catch (error) {
    throw new CommandError('invalid_file', `${where}: ${(error as Error).message}`);
  }
}
