/** Limits a new key to the permissions of the key that creates it. */
import type { CreateApiKey } from '@sluice/kit/contract';
import type { ApiKeyRecord } from '../../store/access/contract.ts';
import { HttpError } from '../httpErrors.ts';
import type { KnownKey } from './keyRing.ts';

/**
 * Returns the scopes, networks and expiry of the requested key. Fields that the request leaves out
 * are inherited from the key that creates it.
 *
 * @throws HttpError 403 that names the field that exceeds the creator's permissions.
 */
export function boundKey(
  { scopes, cidrs, expiresAt }: Pick<CreateApiKey, 'scopes' | 'cidrs' | 'expiresAt'>,
  creator: KnownKey,
): Pick<ApiKeyRecord, 'scopes' | 'cidrs' | 'expiresAt'> {
  const beyond = scopes?.filter((scope) => !creator.scopes.has(scope)) ?? [];
  if (beyond.length > 0) throw beyondCreator('scopes', `lacks ${beyond.join(', ')}`);
  const { networks } = creator;
  if (cidrs !== undefined && networks !== undefined) {
    const isWithin = cidrs.length > 0 && cidrs.every((cidr) => networks.covers(cidr));
    if (!isWithin) throw beyondCreator('cidrs', `is limited to ${creator.cidrs.join(', ')}`);
  }
  if (expiresAt !== undefined && creator.expiresAt !== null && expiresAt > creator.expiresAt) {
    throw beyondCreator('expiresAt', `expires at ${creator.expiresAt}`);
  }
  return {
    scopes: [...new Set(scopes ?? creator.scopes)],
    cidrs: cidrs ?? [...creator.cidrs],
    expiresAt: expiresAt ?? creator.expiresAt,
  };
}

const beyondCreator = (field: string, bound: string): HttpError =>
  new HttpError(403, 'An API key cannot create a key with more permissions than its own', {
    [`requestBody.${field}`]: {
      message: `should be left out or within the limits of the key that creates it, which ${bound}`,
    },
  });
