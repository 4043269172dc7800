/**
 * The complete wire contract, for servers, test kits and schema generators. It is the only entry
 * point of the kit that needs the optional peer dependency `zod`.
 */

// Calls and shapes
export { ROUTES, SLUICE_ROUTES } from './routes.generated.ts';
export type * from './route.ts';
export type * from './generic.ts';
export type * from './shapes.generated.ts';
export type * from './liveEvent.ts';
export type * from './alerts.ts';
export * from './values.ts';
export * from './streamFields.generated.ts';
export type * from './streamFieldView.ts';

// Request schemas, checked at run time
export { abiItemSchema } from './requests/abi.ts';
export * from './requests/triggers.ts';
export * from './requests/streams.ts';
export * from './requests/addresses.ts';
export * from './requests/inboxes.ts';
export * from './requests/activity.ts';
export * from './requests/deliveries.ts';
export { anyChain, replayFilter } from './requests/fields.ts';
export * from './requests/account.ts';
export * from './requests/blocks.ts';

// Webhooks, signatures, hashes
export * from './rules/testWebhooks.ts';
export * from './rules/signature.ts';
export { hmacSha256, keccak256 } from './rules/hash.ts';
export * from './rules/auditHash.ts';
export * from './rules/schedule.ts';
export * from './rules/retryAfter.ts';
export * from './rules/inbox.ts';
export * from './rules/text.ts';
export * from './rules/csv.ts';
export * from './unverified.ts';

// Chains, addresses, events
export * from './rules/chains/aptos.ts';
export * from './rules/chains/evm.ts';
export * from './rules/checksum.ts';
export * from './rules/chains/chainId.ts';
export * from './rules/chains/evmChains.ts';
export * from './rules/events.ts';
export * from './rules/selectors.ts';
export {
  isEventItem,
  listAbi,
  readAbi,
  readFunction,
  type UncertainEvent,
} from './rules/abi/readAbi.ts';
export {
  type CompiledParameters,
  compileParameters,
  type DecodedValue,
} from './rules/abi/values.ts';
