/**
 * Completes the last typed word: a subcommand, a flag, a choice, or a name from the service. The
 * scripts of `sluice completion` run this each time Tab is pressed.
 */
import type { Command, Option } from 'commander';
import { type Connection, connect } from '../connection/connection.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** Maximum wait for the service after Tab is pressed. */
const TIMEOUT = '1s';
const NEWEST_DELIVERIES = 20;

/**
 * Functions that read the possible values from the service, by placeholder: `<stream>`,
 * `[delivery...]`, …
 */
const KNOWN_TO_SERVICE: Readonly<
  Record<string, (sluice: Connection['sluice']) => Promise<string[]>>
> = {
  stream: async (sluice) =>
    (await sluice.listStreamSummaries()).map(({ id, tag }) => (/^[\w.-]+$/.test(tag) ? tag : id)),
  delivery: async (sluice) =>
    (await sluice.listDeliveries({ limit: NEWEST_DELIVERIES })).result.map(({ id }) => id),
  replay: async (sluice) => (await sluice.listReplays()).map(({ id }) => id),
  chain: async (sluice) => (await sluice.listChains()).map(({ id }) => id),
  node: async (sluice) => (await sluice.listNodes()).map(({ id }) => id),
};

/**
 * Returns the completions of the last word. `load` adds flags and subcommands to a top-level
 * command.
 */
export async function completeWord(
  program: Command,
  words: readonly string[],
  { load, terminal }: { load(command: Command): Promise<unknown>; terminal: Terminal },
): Promise<string[]> {
  const last = words.at(-1) ?? '';
  let at = program;
  let place = 0;
  let awaiting: Option | undefined;
  for (const word of words.slice(0, -1)) {
    const next = at.commands.find((each) => each.name() === word);
    if (awaiting !== undefined) awaiting = undefined;
    else if (word.startsWith('-')) awaiting = at.options.find((each) => takesValue(each, word));
    else if (next === undefined) place++;
    else {
      if (at.parent === null) await load(next);
      at = next;
      place = 0;
    }
  }
  const found = awaiting
    ? await valuesOf(nameOf(awaiting), awaiting.argChoices, terminal)
    : last.startsWith('-')
      ? at.options.flatMap(({ long }) => (long === undefined ? [] : [long]))
      : [
          ...(place === 0 ? at.commands.map((each) => each.name()) : []),
          ...(await argumentsOf(at, place, terminal)),
        ];
  return found.filter((each) => each.startsWith(last));
}

const takesValue = (option: Option, word: string): boolean =>
  [option.long, option.short].includes(word) && (option.required || option.optional);

/**
 * Returns the kind of value that a flag takes: `chain` for `--chain <id>`, otherwise the flag's
 * placeholder.
 */
const nameOf = ({ long, flags }: Option): string =>
  long === '--chain' ? 'chain' : (/[<[]([\w-]+)/.exec(flags)?.[1] ?? '');

async function argumentsOf(command: Command, place: number, terminal: Terminal): Promise<string[]> {
  const { registeredArguments: all } = command;
  const argument = all[place] ?? (all.at(-1)?.variadic ? all.at(-1) : undefined);
  return argument === undefined ? [] : valuesOf(argument.name(), argument.argChoices, terminal);
}

async function valuesOf(
  name: string,
  choices: readonly string[] | undefined,
  terminal: Terminal,
): Promise<string[]> {
  if (choices !== undefined) return [...choices];
  try {
    return (await KNOWN_TO_SERVICE[name]?.(connect({ timeout: TIMEOUT }, terminal).sluice)) ?? [];
  } catch {
    // Returns no completions after an error, such as a missing API key, because a message would
    // disturb the input.
    return [];
  }
}
