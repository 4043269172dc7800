import { createClient } from '@sluice/kit';

/**
 * Client of the compatible API. Modules that the page loads first import it dynamically, because it
 * includes Keccak-256.
 */
export const client = createClient({ baseUrl: location.origin, apiKey: null });
