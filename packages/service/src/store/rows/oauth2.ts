import type { OAuth2Credentials } from '@sluice/kit/contract';

/** Reads the stored credentials of a stream, or of a claimed delivery. */
export const readOAuth2 = (json: string | null): OAuth2Credentials | null =>
  json === null ? null : (JSON.parse(json) as OAuth2Credentials);
