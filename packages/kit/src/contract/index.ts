/**
 * The wire contract without its schemas, for the other packages of this repository. The published
 * kit has no such entry point; the schemas are in `calls`.
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

// Webhooks, signatures, hashes
export * from './rules/testWebhooks.ts';
export * from './rules/signature.ts';
export { hmacSha256, keccak256 } from './rules/hash.ts';
export * from './rules/auditHash.ts';
export * from './rules/schedule.ts';
export * from './rules/retryAfter.ts';
export * from './rules/inbox.ts';
export * from './rules/text.ts';
export * from './rules/shell.ts';
export * from './rules/csv.ts';
export * from './unverified.ts';

// Chains, addresses, events
export * from './rules/chains/aptos.ts';
export * from './rules/chains/evm.ts';
export * from './rules/checksum.ts';
export * from './rules/addressList.ts';
export * from './rules/chains/explorerUrls.ts';
export * from './rules/chains/chainId.ts';
export * from './rules/chains/family.ts';
export * from './rules/ids.ts';
export * from './rules/chains/evmChains.ts';
export * from './rules/events.ts';
export * from './rules/functions.ts';
export * from './rules/selectors.ts';
export {
  isEventItem,
  listAbi,
  readAbi,
  readFunction,
  type UncertainEvent,
} from './rules/abi/readAbi.ts';
export {
  type CompiledFunction,
  compileFunction,
  type DecodedArguments,
} from './rules/abi/callData.ts';
export {
  type CompiledParameters,
  compileParameters,
  type DecodedValue,
} from './rules/abi/values.ts';
