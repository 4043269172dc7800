import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { unpackAddresses } from '../../../store/addresses/packedAddresses.ts';
import { APTOS_API } from '../../../families/aptos/api/aptosApi.ts';
import { EVM_API } from '../../../families/evm/api/evmApi.ts';
import { readPlainBody } from './plainAddressBody.ts';

const read = (json: string, takesLabels = true) =>
  readPlainBody(Buffer.from(json), EVM_API.addresses, takesLabels);
const addressOf = (n: number): string => `0x${n.toString(16).padStart(40, 'aB')}`;

const space = fc.constantFrom('', ' ', '\n\t', '\r\n  ');
const label = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => !/\p{Cc}/u.test(text));

test('property: reads the same as JSON.parse, for any white space and order of keys', async () => {
  const bodies = fc.record({
    numbers: fc.uniqueArray(fc.nat(1_000), { minLength: 1, maxLength: 20 }),
    labels: fc.array(label, { maxLength: 20 }),
    isList: fc.boolean(),
    labelsFirst: fc.boolean(),
    space,
  });
  await fc.assert(
    fc.asyncProperty(bodies, async ({ numbers, labels, isList, labelsFirst, space: gap }) => {
      const list = numbers.map(addressOf);
      const address = isList ? list : list[0];
      const used = Object.fromEntries(
        [address].flat().flatMap((each, n) => (labels[n] === undefined ? [] : [[each, labels[n]]])),
      );
      const fields = [
        ['address', address],
        ['labels', used],
      ] as const;
      const ordered = labelsFirst ? fields.toReversed() : fields;
      const json = JSON.stringify(Object.fromEntries(ordered), undefined, gap === '' ? '' : '  ');
      const body = (await read(gap + json + gap))!;
      expect(unpackAddresses(body.addresses)).toEqual(
        [address].flat().map((each) => each!.toLowerCase()),
      );
      expect([...body.labels]).toEqual(
        Object.entries(used).map(([each, text]) => [each.toLowerCase(), text]),
      );
      const sent = Buffer.from(body.sent).toString();
      expect(json).toContain(sent);
      expect(sent).toBe(sent.trim());
      expect(JSON.parse(sent)).toEqual(address);
    }),
  );
});

const A = addressOf(1);

describe('another shape is left to a parser', () => {
  test.each([
    ['no address', '{"labels":{}}'],
    ['an unknown field', `{"address":"${A}","tag":1}`],
    ['addresses twice', `{"address":"${A}","address":"${A}"}`],
    ['labels twice', `{"address":"${A}","labels":{},"labels":{}}`],
    ['an escape in an address', `{"address":"${A.slice(0, -1)}\\u0031"}`],
    ['an empty list', '{"address":[]}'],
    ['text after its end', `{"address":"${A}"} 1`],
    ['a missing end', `{"address":["${A}"`],
    ['much white space', `{"address":${' '.repeat(2_000)}"${A}"}`],
  ])('%s', async (_, json) => {
    expect(await read(json)).toBeUndefined();
  });

  test('an address without leading zeros', async () => {
    const body = Buffer.from('{"address":"0x1"}');
    expect(await readPlainBody(body, APTOS_API.addresses, true)).toBeUndefined();
  });

  test('labels in a call that takes none', async () => {
    expect(await read(`{"address":"${A}","labels":{}}`, false)).toBeUndefined();
  });
});

describe('the invalid field is reported', () => {
  test.each([
    ['requestBody.address', '{"address":"0x12"}'],
    ['requestBody.address.1', `{"address":["${A}","0x12"]}`],
    [`requestBody.labels.0x12`, `{"address":"${A}","labels":{"0x12":"a"}}`],
    [`requestBody.labels.${A}`, `{"address":"${A}","labels":{"${A}":"\\n"}}`],
    [
      `requestBody.labels.${addressOf(2).toLowerCase()}`,
      `{"address":"${A}","labels":{"${A}":"a","${addressOf(2)}":"b"}}`,
    ],
  ])('%s', async (field, json) => {
    await expect(read(json)).rejects.toMatchObject({ details: { [field]: expect.anything() } });
  });
});
