/**
 * Validates triggers, and compiles them to functions that prepare calls and decode their results.
 */
import { CallerError } from '../../../base/errors.ts';
import { decodeLogs } from '@sluice/kit';
import {
  type AbiItem,
  type AbiParameter,
  type DecodedValue,
  type Selectable,
  type StreamTrigger,
  type WebhookLog,
  type WebhookTrigger,
  compileParameters,
  itemSignature,
  eventTopic,
  keccak256,
  parseEventSignature,
  selectableOf,
  toAddress,
} from '@sluice/kit/contract';
import { encodeAbiParameters } from 'viem/utils';
import { toWireValue } from '../base/wireValue.ts';
import {
  MAX_CALL_BYTES,
  MAX_DEPTH,
  type ByteBudget,
  valueError,
  elementOf,
  isSupported,
  listOf,
  toAbiValue,
  unnamed,
} from './abiValues.ts';
import type { AnyRecord } from './records.ts';
import {
  type SelectorProblem,
  type ReportProblem,
  type SelectorSubject,
  checkSelector,
  isSelector,
  readSelector,
} from './selectors.ts';
import { MAX_RESULT_BYTES, type StateAnswer, type StateCall } from './state.ts';

/** Maximum length of one trigger's inputs as JSON, in characters. */
const MAX_INPUT_CHARACTERS = 16_384;

/**
 * Minimum size limit of a result; not lower, because a contract may return more than its ABI
 * declares.
 */
const MIN_RESULT_BYTES = 4096;

export interface CompiledTrigger {
  kind: StreamTrigger['type'];
  /**
   * Returns the call for a record, or why it cannot be made; undefined if the record is a log of
   * another event.
   *
   * @param decode decodes the record; triggers of one record may share the result
   */
  prepare(record: AnyRecord, decode?: DecodeRecord): StateCall | { error: string } | undefined;
  /** Returns one entry per output of the function, or a single error entry. */
  read(answer: StateAnswer): WebhookTrigger[];
}

/**
 * Returns a log's parameters, decoded by the first of these events that fits; empty if none fits.
 */
export type DecodeRecord = (events: readonly AbiItem[]) => SelectorSubject['args'];

/** Creates a decoder that decodes the record at most once per list of events. */
export function createDecoder(record: AnyRecord): DecodeRecord {
  const decoded = new Map<readonly AbiItem[], SelectorSubject['args']>();
  return (events) => {
    let args = decoded.get(events);
    if (args === undefined) {
      const logs = [record as unknown as WebhookLog];
      args = decodeLogs({ logs }, events).decoded[0]?.args ?? {};
      decoded.set(events, args);
    }
    return args;
  };
}

export const errorEntry = (message: string): WebhookTrigger => ({ name: 'error', value: message });

export function checkTriggers(
  triggers: readonly StreamTrigger[],
  abi: readonly AbiItem[],
): SelectorProblem[] {
  const problems: SelectorProblem[] = [];
  for (const [n, trigger] of triggers.entries()) {
    compileTrigger(trigger, abi, (path, message) =>
      problems.push({ path: ['triggers', n, ...path], message }),
    );
  }
  return problems;
}

/**
 * Returns the topic of a log trigger's event, and the events of the ABI with this topic; undefined
 * if the trigger has another type, or does not name a valid event.
 */
export function eventsOf(
  { type, topic0 }: StreamTrigger,
  abi: readonly AbiItem[],
): { topic: string; events: AbiItem[] } | undefined {
  if (type !== 'log' || topic0 === undefined) return undefined;
  const topic = parseEventSignature(topic0)?.topic0;
  if (topic === undefined) return undefined;
  return { topic, events: eventsByTopic(abi).get(topic) ?? [] };
}

/** Events by topic, for each ABI. All triggers of a stream share an ABI. */
const eventsByAbi = new WeakMap<readonly AbiItem[], ReadonlyMap<string, AbiItem[]>>();

function eventsByTopic(abi: readonly AbiItem[]): ReadonlyMap<string, AbiItem[]> {
  let events = eventsByAbi.get(abi);
  if (events === undefined) {
    events = Map.groupBy(
      abi.filter((item) => item.type === 'event' && !item.anonymous),
      eventTopic,
    );
    eventsByAbi.set(abi, events);
  }
  return events;
}

/**
 * Compiles a trigger and reports its problems. If there are any, the compiled trigger must not be
 * used. Triggers that were already validated are compiled without `report`.
 */
export function compileTrigger(
  trigger: StreamTrigger,
  abi: readonly AbiItem[],
  report: ReportProblem = () => {},
): CompiledTrigger {
  const event = eventsOf(trigger, abi);
  checkTopic(trigger, event?.events, report);
  checkFunction(trigger.functionAbi, report);
  const selectable = selectableOf(
    trigger.type,
    event?.events.flatMap(({ inputs = [] }) => inputs) ?? [],
  );
  const readTo = compileAddress(trigger.contractAddress, ['contractAddress'], selectable, report);
  const readFrom =
    trigger.callFrom === undefined
      ? undefined
      : compileAddress(trigger.callFrom, ['callFrom'], selectable, report);
  const readInputs = compileInputs(trigger, selectable, report);

  const { name = '', inputs = [], outputs = [] } = trigger.functionAbi;
  const selector = keccak256(itemSignature(trigger.functionAbi)).slice(0, 10);
  const inputTypes = unnamed(inputs);
  const results = compileParameters(unnamed(outputs));
  const maxBytes = Math.min(
    MAX_RESULT_BYTES,
    Math.max(MIN_RESULT_BYTES, results?.sizeBytes ?? MAX_RESULT_BYTES),
  );

  const subjectOf = (record: AnyRecord, decode: DecodeRecord): SelectorSubject | undefined => {
    if (event === undefined) return { record, args: {} };
    return record['topic0'] === event.topic ? { record, args: decode(event.events) } : undefined;
  };

  return {
    kind: trigger.type,
    prepare(record, decode = createDecoder(record)) {
      const subject = subjectOf(record, decode);
      if (subject === undefined) return undefined;
      try {
        const to = readTo(subject);
        const from = readFrom?.(subject);
        const room: ByteBudget = { bytes: MAX_CALL_BYTES };
        const values = readInputs.map((read) => read(subject, room));
        const data = selector + encodeAbiParameters(inputTypes, values).slice(2);
        return data.length > 2 + 2 * MAX_CALL_BYTES
          ? { error: `the inputs of ${name} are more than ${MAX_CALL_BYTES} bytes` }
          : { to, data, maxBytes, ...(from !== undefined && { from }) };
      } catch (error) {
        if (error instanceof CallerError)
          return { error: `${name} was not called: ${error.message}` };
        throw error;
      }
    },
    read(answer) {
      if (answer.outcome !== 'read') return [errorEntry(answer.message)];
      if (outputs.length === 0) return [];
      if (answer.value === '0x') {
        return [errorEntry(`${name} returned no data: the address has no such function`)];
      }
      let values: readonly DecodedValue[] | undefined;
      try {
        values = results?.decode(answer.value);
      } catch {}
      return values === undefined
        ? [errorEntry(`the data returned by ${name} can't be decoded as its outputs`)]
        : values.map((value, n) => ({
            name: outputs[n]!.name || `output${n + 1}`,
            value: toWireValue(value),
          }));
    },
  };
}

function checkTopic(
  { type, topic0 }: StreamTrigger,
  events: readonly AbiItem[] | undefined,
  report: ReportProblem,
): void {
  if (topic0 === undefined) return;
  if (type !== 'log') {
    report(['topic0'], 'should be left out: only triggers of type log can name an event');
  } else if (events === undefined) {
    report(
      ['topic0'],
      'should be an event signature, e.g. Transfer(address,address,uint256), or its 32-byte hash',
    );
  } else if (events.length === 0) {
    report(
      ['topic0'],
      "should name an event of the stream's abi, so that its parameters can be read",
    );
  }
}

function checkFunction(item: AbiItem, report: ReportProblem): void {
  if (item.type !== 'function') report(['functionAbi', 'type'], 'should be function');
  const mutability = item.stateMutability ?? (item.constant ? 'view' : undefined);
  if (mutability !== 'view' && mutability !== 'pure') {
    report(
      ['functionAbi', 'stateMutability'],
      'should be view or pure: triggers only read from the chain',
    );
  }
  for (const part of ['inputs', 'outputs'] as const) {
    for (const [n, parameter] of (item[part] ?? []).entries()) {
      if (isSupported(parameter)) continue;
      report(
        ['functionAbi', part, n, 'type'],
        `should be a supported type: not fixed or function, no empty array or struct, nested at most ${MAX_DEPTH} levels deep`,
      );
    }
  }
}

function compileAddress(
  text: string,
  path: SelectorProblem['path'],
  selectable: Selectable,
  report: ReportProblem,
): (subject: SelectorSubject) => string {
  const literal = toAddress(text);
  if (literal !== undefined) return () => literal;
  if (!isSelector(text)) {
    report(path, 'should be an address, 0x and 40 hex digits, or a selector such as $contract');
  } else {
    checkSelector(text, selectable.addresses, 'an address field of the record', path, report);
  }
  return (subject) => {
    const address = toAddress(readSelector(subject, text));
    if (address === undefined) throw valueError(`the record has no ${text}`);
    return address;
  };
}

type ReadInput = (subject: SelectorSubject, room: ByteBudget) => unknown;

function compileInputs(
  { functionAbi, inputs = [] }: StreamTrigger,
  selectable: Selectable,
  report: ReportProblem,
): ReadInput[] {
  const parameters = functionAbi.inputs ?? [];
  // `checkFunction` has reported unsupported parameters, which may be nested too deeply for this
  // code.
  if (!parameters.every((parameter) => isSupported(parameter))) return [];
  if (inputs.length !== parameters.length) {
    const wanted = parameters.map(({ name, type }) => `${type} ${name}`.trim()).join(', ');
    report(
      ['inputs'],
      parameters.length === 0
        ? 'should be left out: the function has no parameters'
        : `should have one entry for each parameter of the function: ${wanted}`,
    );
    return [];
  }
  let isFit = true;
  const reads = parameters.map((parameter, n) =>
    compileInput(parameter, inputs[n], ['inputs', n], selectable, (path, message) => {
      isFit = false;
      report(path, message);
    }),
  );
  if (isFit && JSON.stringify(inputs).length > MAX_INPUT_CHARACTERS) {
    report(['inputs'], `should be at most ${MAX_INPUT_CHARACTERS} characters of JSON`);
  }
  return reads;
}

/**
 * Compiles the input for a parameter. A selector may replace any value, even inside arrays and
 * structs.
 */
function compileInput(
  parameter: AbiParameter,
  value: unknown,
  path: SelectorProblem['path'],
  selectable: Selectable,
  report: ReportProblem,
): ReadInput {
  if (isSelector(value)) {
    checkSelector(value, selectable.all, 'a field of the record', path, report);
    return (subject, room) => {
      try {
        return toAbiValue(parameter, readSelector(subject, value), room);
      } catch (error) {
        if (!(error instanceof CallerError)) throw error;
        throw valueError(`${value} ${error.message}`);
      }
    };
  }
  try {
    const array = elementOf(parameter);
    const components = parameter.type === 'tuple' ? (parameter.components ?? []) : undefined;
    if (array === undefined && components === undefined) {
      const constant = toAbiValue(parameter, value, { bytes: MAX_CALL_BYTES });
      return () => constant;
    }
    const items = listOf(value, array?.length ?? components?.length, parameter.type);
    const reads = items.map((item, n) =>
      compileInput(array?.element ?? components![n]!, item, [...path, n], selectable, report),
    );
    return (subject, room) => reads.map((read) => read(subject, room));
  } catch (error) {
    if (!(error instanceof CallerError)) throw error;
    report(path, error.message);
    return () => undefined;
  }
}
