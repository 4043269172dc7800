/** Formats arrays and tuples of decoded logs like the hosted SDK: elements joined by commas. */
import type { Abi } from 'abitype';
import { checksumAddress } from '../families/evm/checksum.ts';
import { eventTopic } from '../contract/rules/events.ts';
import type { AbiItem, AbiParameter, WebhookLog } from '../contract/shapes.generated.ts';
import { readEvents } from '../contract/rules/abi/readAbi.ts';
import { parameterNames } from '../contract/rules/abi/values.ts';
import type { DecodedValue } from '../contract/rules/abi/values.ts';

/** Formats an array or tuple parameter of a log as a string. */
export type FormatList = (value: DecodedValue, parameter: string, log: WebhookLog) => string;

/**
 * Creates a formatter that, like the hosted SDK, checksums addresses inside arrays and tuples. The
 * types come from the ABI, because a value does not show that it is an address.
 */
export function listFormatter(abi: Abi | readonly AbiItem[]): FormatList {
  const events = readEvents(abi);
  return (value, parameter, log) => {
    const input = events.flatMap((item) => {
      const inputs = item.inputs ?? [];
      if (!item.anonymous && eventTopic(item) !== log.topic0?.toLowerCase()) return [];
      return inputs[parameterNames(inputs).indexOf(parameter)] ?? [];
    })[0];
    return format(value, input);
  };
}

function format(value: DecodedValue, parameter: AbiParameter | undefined): string {
  if (Array.isArray(value)) {
    const element = parameter && {
      ...parameter,
      type: parameter.type.slice(0, parameter.type.lastIndexOf('[')),
    };
    return value.map((each: DecodedValue) => format(each, element)).join(',');
  }
  if (typeof value === 'object') {
    return Object.values(value)
      .map((each: DecodedValue, position) => format(each, parameter?.components?.[position]))
      .join(',');
  }
  return parameter?.type === 'address' ? checksumAddress(String(value)) : String(value);
}
