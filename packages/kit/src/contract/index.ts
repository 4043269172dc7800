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
export * from '../families/aptos/testWebhook.ts';
export * from '../families/evm/testWebhook.ts';
export * from './rules/signature.ts';
export { hmacSha256, keccak256 } from './rules/hash.ts';
export * from './rules/auditHash.ts';
export * from './rules/confirmations.ts';
export * from './rules/schedule.ts';
export * from './rules/retryAfter.ts';
export * from './rules/feed.ts';
export * from './rules/inbox.ts';
export * from './rules/receiver.ts';
export { type QueueBroker, type QueueServers, parseBrokerUrl } from './rules/queues/broker.ts';
export { KAFKA, type KafkaTarget, type SaslMechanism } from './rules/queues/kafka.ts';
export { NATS, type NatsTarget } from './rules/queues/nats.ts';
export { RABBIT_MQ, type RabbitMqTarget } from './rules/queues/rabbitMq.ts';
export {
  QUEUE_BROKERS,
  QUEUE_SCHEMES,
  queueBrokerOf,
  queueUrlProblem,
} from './rules/queues/queues.ts';
export { type TemplateValues, fillTemplate, hasPlaceholder } from './rules/queues/template.ts';
export * from './rules/tables.ts';
export * from './rules/text.ts';
export * from './rules/bodyQuery.ts';
export * from './rules/shell.ts';
export * from './rules/csv.ts';
export * from './unverified.ts';

// Chains, addresses, events
export * from '../families/chains.ts';
export * from '../families/streamFields.ts';
export * from '../families/addresses.ts';
export * from '../families/titles.ts';
export {
  type AnyWebhook,
  callByWebhook,
  familyOfWebhook,
  findWebhookFamily,
} from '../families/webhooks.ts';
export * from '../families/aptos/address.ts';
export * from '../families/aptos/chains.ts';
export * from '../families/evm/address.ts';
export * from '../families/evm/chains.ts';
export * from '../families/evm/checksum.ts';
export * from '../families/evm/evmChains.ts';
export * from '../families/evm/nativeTransfer.ts';
export * from './rules/addressLabel.ts';
export * from './rules/explorerUrls.ts';
export * from './rules/ids.ts';
export * from './rules/events.ts';
export * from './rules/signatures.ts';
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
