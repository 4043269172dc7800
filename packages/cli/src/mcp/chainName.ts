import * as z from 'zod';

/** A chain, as a tool accepts it. */
export const chainName = z
  .string()
  .min(1)
  .max(100)
  .describe('Chain ID in hex, or an Aptos network.');
