import { createClient } from '@sluice/kit';

/**
 * Client of the compatible API. Modules of the first load import it dynamically, because it brings
 * Keccak-256 along.
 */
export const client = createClient({ baseUrl: location.origin, apiKey: null });
