import { readPatterns, worstTexts } from '../../test/patterns.ts';

/**
 * The most expensive bodies that a caller can send, by name. Most are as large as a route accepts,
 * so they are created on demand.
 */
export type HostileBodies = Record<string, () => string>;

/** Fields that routes validate: first the fields with a string, then the fields with a list. */
const TEXT_FIELDS = ['apiKey', 'webhookUrl', 'description', 'tag', 'name', 'chainId', 'address'];
const LIST_FIELDS = ['abi', 'advancedOptions', 'topic0', 'address', 'addresses', 'network'].concat([
  'streamIds',
  'scopes',
  'functions',
]);
/** String whose repetitions once took quadratic time to redact. */
const URL_LIKE = 'a-';

/** Returns a body with the same string in all text fields. */
const inFields = (text: string): string =>
  `{${TEXT_FIELDS.map((field) => `"${field}":${JSON.stringify(text)}`).join(',')}}`;

const listOf = (element: string, bytes: number): string =>
  `[${`${element},`.repeat(Math.floor(bytes / (element.length + 1)) - 1)}${element}]`;

/** Returns bodies for all routes except the address routes, each of at most `limit` bytes. */
export function hostileBodies(limit: number): HostileBodies {
  const room = limit - 200;
  const each = Math.floor(room / TEXT_FIELDS.length / 2) - 100;
  const fields = Math.floor(room / 20);
  return {
    'texts like URLs': () => inFields(`${URL_LIKE.repeat(each / 2)}?`),
    ...worstTextBodies(room),
    ...Object.fromEntries(
      LIST_FIELDS.map((field) => [`zeros in ${field}`, () => `{"${field}":${listOf('0', room)}}`]),
    ),
    'empty inputs': () => `{"abi":[{"type":"event","name":"A","inputs":${listOf('{}', room)}}]}`,
    'unknown fields': () => `{${Array.from({ length: fields }, (_, n) => `"x${n}":0`).join(',')}}`,
    'a long name': () => `{"${'x'.repeat(room)}":0}`,
    headers: () =>
      `{"headers":{${Array.from({ length: fields }, (_, n) => `" ${n}":"\\n"`).join(',')}}}`,
    nested: () => '['.repeat(limit),
    'an unterminated string': () => `{"a":"${'\\"'.repeat(room / 2)}`,
  };
}

/** Maximum length of the strings in `worstTextBodies`. */
const LISTED = 4_000;
/** Strings that once took quadratic time in one of the service's regular expressions. */
const ONCE_SLOW = ['a-', '[<', 'a0', '0.0', 'a@', '::'].map((text) => text.repeat(LISTED / 2));
let analyzed: readonly string[] | undefined;

/**
 * Returns bodies with slow strings in all fields: the strings that make the service's regular
 * expressions backtrack most, according to the analyzer, and the strings that were slow before.
 */
function worstTextBodies(room: number): HostileBodies {
  analyzed ??= [
    ...new Set(readPatterns().patterns.flatMap((pattern) => worstTexts(pattern, LISTED))),
    ...ONCE_SLOW,
  ];
  const fields = TEXT_FIELDS.length + LIST_FIELDS.length;
  const length = Math.min(LISTED, Math.floor(room / fields / 4));
  const each = Math.floor(room / fields / length / 2);
  const groups = Array.from({ length: Math.ceil(analyzed.length / each) }, (_, n) =>
    analyzed!.slice(n * each, (n + 1) * each),
  );
  return Object.fromEntries(
    groups.map((group, n) => [
      `worst texts of patterns ${n + 1}`,
      () => {
        const texts = group.map((text) => text.slice(0, length));
        return JSON.stringify({
          ...Object.fromEntries(TEXT_FIELDS.map((field, at) => [field, texts[at % texts.length]])),
          ...Object.fromEntries(LIST_FIELDS.map((field) => [field, texts])),
        });
      },
    ]),
  );
}

/**
 * Returns bodies for the address routes, each of at most `limit` bytes. `width` is the number of
 * hex digits of an address.
 */
export function addressBodies(limit: number, width: number): HostileBodies {
  const each = width + 5;
  const count = Math.floor((limit - 200) / each);
  const hex = (n: number): string => `"0x${n.toString(16).padStart(width, '0')}"`;
  // Builds groups of a thousand addresses from one group, by replacing the first eight digits with
  // the number of the group.
  const thousand = Array.from({ length: 1_000 }, (_, n) => hex(n)).join(',');
  const start = `"0x${'0'.repeat(8)}`;
  const many = (length: number): string =>
    Array.from({ length: Math.floor(length / 1_000) }, (_, n) =>
      thousand.replaceAll(start, `"0x${n.toString(16).padStart(8, '0')}`),
    ).join(',');
  const half = Math.floor((limit - 200) / (2 * each + 5));
  const labels = (): string => Array.from({ length: half }, (_, n) => `${hex(n)}:"a"`).join(',');
  return {
    'distinct addresses': () => `{"address":[${many(count)}]}`,
    'an invalid one at the end': () => `{"address":[${many(count - 1)},"0xz"]}`,
    labels: () => `{"address":[${many(half)}],"labels":{${labels()}}}`,
    'an invalid label': () => `{"address":[${many(half)}],"labels":{${labels()},"0xz":"a"}}`,
    zeros: () => `{"address":${listOf('0', limit - 200)}}`,
    'one text': () => `{"address":"${'a-'.repeat((limit - 200) / 2)}?"}`,
    spaces: () => `{"address":[${' '.repeat(limit - 200)}]}`,
    nested: () => '['.repeat(limit),
    short: () => `{"address":[${listOf('"0x1"', 1_000_000).slice(1, -1)}]}`,
  };
}

export const TRANSFER = 'Transfer(address,address,uint256)';
const transfer = {
  type: 'event',
  name: 'Transfer',
  inputs: [
    { name: 'from', type: 'address', indexed: true },
    { name: 'to', type: 'address', indexed: true },
    { name: 'value', type: 'uint256' },
  ],
};
const manyOf = <T>(length: number, make: (n: number) => T): T[] =>
  Array.from({ length }, (_, n) => make(n));

/** Returns sets of stream fields by name, each at a limit of the service. */
export function heavyRules(): Record<string, object> {
  const gt = (n: number): object => ({ gt: ['value', String(10 ** 12 + n)] });
  const filtered = (filter: object): object => ({
    abi: [transfer],
    advancedOptions: [{ topic0: TRANSFER, filter }],
  });
  let nested: object = gt(0);
  for (let depth = 0; depth < 28; depth++) nested = { and: [nested, gt(depth)] };
  const wide = {
    type: 'event',
    name: 'Wide',
    inputs: manyOf(4_900, (n) => ({ name: `a${n}`, type: 'uint8' })),
  };
  const wideTopic = `Wide(${manyOf(4_900, () => 'uint8').join(',')})`;
  return {
    'options times inputs': {
      abi: [wide, transfer],
      topic0: [TRANSFER],
      advancedOptions: manyOf(20, () => ({
        topic0: wideTopic.length > 4_096 ? TRANSFER : wideTopic,
        filter: gt(1),
      })),
    },
    'a thousand options': {
      abi: [transfer],
      advancedOptions: manyOf(1_000, (n) => ({ topic0: TRANSFER, filter: gt(n) })),
    },
    'a list of values': filtered({ in: ['value', manyOf(40_000, String)] }),
    'a thousand comparisons': filtered({ or: manyOf(1_000, gt) }),
    'many equalities': filtered({ or: manyOf(12_000, (n) => ({ eq: ['value', n] })) }),
    nested: filtered(nested),
    'long events': {
      topic0: manyOf(24, (n) => `T${n}(${manyOf(800, () => 'bool').join(',')})`),
    },
    'long types': {
      abi: manyOf(1_000, (n) => ({
        type: 'function',
        name: `f${n}`,
        inputs: [{ name: '', type: `uint256${'[]'.repeat(120)}` }],
      })),
    },
    'many items': {
      abi: manyOf(1_000, (n) => ({
        type: 'event',
        name: `E${n}`,
        inputs: manyOf(4, (m) => ({ name: `${'n'.repeat(150)}${m}`, type: 'uint256' })),
      })),
    },
    'triggers times items': {
      abi: manyOf(900, (n) => ({
        type: 'event',
        name: `E${n}${'x'.repeat(900)}`,
        inputs: manyOf(4, (m) => ({ name: `a${m}`, type: 'uint256' })),
      })),
      triggers: manyOf(32, () => ({
        type: 'log',
        contractAddress: '$address',
        topic0: `E1${'x'.repeat(900)}(uint256,uint256,uint256,uint256)`,
        functionAbi: {
          type: 'function',
          name: 'f',
          stateMutability: 'view',
          inputs: [],
          outputs: [{ name: '', type: 'uint256' }],
        },
        inputs: [],
      })),
    },
  };
}
