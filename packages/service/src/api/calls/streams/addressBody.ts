/**
 * Reads the bodies of address calls, with or without labels. A body in the usual shape
 * (`plainAddressBody.ts`) can be as large as its route allows; any other body is parsed as JSON,
 * with the default size limit.
 */
import type { AddressesBody, LabeledAddressesBody } from '@sluice/kit/contract';
import type { Context } from 'hono';
import { packAddresses } from '../../../store/addresses/packedAddresses.ts';
import { HttpError, validate, refuseTooMany } from '../../httpErrors.ts';
import { BODY_LIMIT_BYTES, readBytes, readJson } from '../../body.ts';
import { takeQueryField } from '../../query.ts';
import type { AddressFormat } from '../../family.ts';
import { invalidAddress } from './invalidAddress.ts';
import { type AddressBody, readPlainBody } from './plainAddressBody.ts';

/** @throws HttpError 400 or 422 that names the field, its value and what it should be */
export async function readAddressBody(
  context: Context,
  { format, takesLabels }: { format: AddressFormat; takesLabels: boolean },
): Promise<AddressBody> {
  const bytes = readBytes(context);
  const plain = await readPlainBody(bytes, format, takesLabels);
  if (plain !== undefined) return plain;
  if (bytes.length > BODY_LIMIT_BYTES) {
    throw new HttpError(
      400,
      `A body of more than ${BODY_LIMIT_BYTES} bytes should be {"address":[…]}` +
        `${takesLabels ? ', with or without "labels"' : ''}, each address as "0x…" of ${2 * format.width} digits`,
    );
  }
  return readAny(readJson(context), format, { takesLabels, where: 'requestBody' });
}

/** Maximum size of a body that can count as empty: `{}` with white space. */
const EMPTY_BODY_BYTES = 16;

/**
 * Reads the addresses that a request removes: from the body or, if it is empty, from the query
 * parameter `address`, which may be repeated.
 */
export async function readRemovedAddresses(
  context: Context,
  format: AddressFormat,
): Promise<AddressBody> {
  const bytes = readBytes(context);
  const isEmpty =
    bytes.length <= EMPTY_BODY_BYTES && ['', '{}'].includes(bytes.toString().replace(/\s/g, ''));
  const [first, ...others] = isEmpty ? takeQueryField(context, 'address') : [];
  if (first === undefined) return readAddressBody(context, { format, takesLabels: false });
  const address = others.length === 0 ? first : [first, ...others];
  return readAny({ address }, format, { takesLabels: false, where: 'query' });
}

/** Validates addresses and labels that were parsed as JSON, or addresses from the query. */
function readAny(
  body: unknown,
  format: AddressFormat,
  { takesLabels, where }: { takesLabels: boolean; where: 'requestBody' | 'query' },
): AddressBody {
  refuseTooMany(where, body);
  const schema = takesLabels ? format.labeledSchema : format.schema;
  const parsed = schema.safeParse(body);
  if (!parsed.success) {
    refuseBadAddress(body, format, where);
    return validate(schema, where, body) as never;
  }
  const { address, labels = {} } = parsed.data as LabeledAddressesBody;
  return {
    addresses: packAddresses([address].flat(), format.width),
    labels: new Map(Object.entries(labels)),
    sent: Buffer.from(JSON.stringify((body as AddressesBody).address)),
  };
}

function refuseBadAddress(
  body: unknown,
  format: AddressFormat,
  where: 'requestBody' | 'query',
): void {
  const address = (body as { address?: unknown } | null)?.address;
  const list: unknown[] = Array.isArray(address) ? address : [address];
  const at = list.findIndex(
    (each) => typeof each === 'string' && format.toAddress(each) === undefined,
  );
  if (at < 0) return;
  const place = Array.isArray(address) ? `address.${at}` : 'address';
  throw invalidAddress(format, `${where}.${place}`, String(list[at]));
}
