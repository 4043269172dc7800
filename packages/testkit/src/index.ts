export { type Anvil, type AnvilOptions, startAnvil } from './anvil/anvil.ts';
export { findAnvil } from './anvil/findAnvil.ts';
export { type DevAccount, devAccounts } from './anvil/devAccounts.ts';
export {
  answers,
  crier,
  entryPoint,
  multicall,
  oddToken,
  sluiceCollectible,
  sluiceItems,
  sluiceToken,
  smartAccount,
  valueMover,
} from './anvil/contracts.generated.ts';
export { type Activity, type ActivityOptions, startActivity } from './anvil/activity.ts';
export {
  type DeployedContracts,
  deployContracts,
  localContracts,
} from './anvil/deployContracts.ts';
export { findFreePort } from './freePort.ts';
export { type CertificateOptions, type CertifiedKey, createCertificate } from './certificate.ts';
export type { SinkAnswer, SinkBehavior, SinkSilence } from './sinkBehavior.ts';
export {
  type RecordedRequest,
  type SinkResponder,
  type WaitOptions,
  type WebhookSink,
  type WebhookSinkOptions,
  startWebhookSink,
} from './webhookSink.ts';
export type { MinedLog, MinedTransaction, ScriptedBlock } from './scriptedChain/scriptedBlock.ts';
export {
  type BlockScript,
  type ScriptedChain,
  type ScriptedChainOptions,
  createScriptedChain,
} from './scriptedChain/scriptedChain.ts';
export {
  type ScriptedInternalCall,
  type ScriptedLog,
  type ScriptedTransaction,
  scripted,
} from './scriptedChain/scriptedTransaction.ts';
export {
  type ScriptedActivityOptions,
  startScriptedActivity,
} from './scriptedChain/scriptedActivity.ts';
export type { ScriptedCall } from './scriptedChain/node/rpcMethods.ts';
export {
  type RunningScriptedChain,
  type StartScriptedChainOptions,
  startScriptedChain,
} from './scriptedChain/node/startScriptedChain.ts';
export type { Trouble, TroubleKind, TroubleScope } from './scriptedChain/node/trouble.ts';
export {
  type AptosActivity,
  type AptosActivityOptions,
  aptosDevAccounts,
  startAptosActivity,
} from './scriptedAptos/ledger/aptosActivity.ts';
export {
  aptCoinType,
  aptMetadata,
  namedObjectOf,
  namedTokenOf,
  primaryStoreOf,
  toLongAddress,
} from './scriptedAptos/ledger/aptosAddress.ts';
export { type AptosStore, aptosEffects } from './scriptedAptos/ledger/aptosEffects.ts';
export type { RestTransaction } from './scriptedAptos/ledger/restTransaction.ts';
export { scriptedAptos } from './scriptedAptos/ledger/scriptedAptos.ts';
export {
  type AptosBlockScript,
  type ScriptedAptosBlock,
  type ScriptedAptosLedger,
  type ScriptedAptosLedgerOptions,
  createScriptedAptosLedger,
} from './scriptedAptos/ledger/scriptedAptosLedger.ts';
export type {
  AptosEffect,
  ScriptedAptosTransaction,
} from './scriptedAptos/ledger/scriptedAptosTransaction.ts';
export type { AptosRoute, AptosTrouble } from './scriptedAptos/rest/aptosTrouble.ts';
export {
  type RunningScriptedAptos,
  type StartScriptedAptosOptions,
  startScriptedAptos,
} from './scriptedAptos/rest/startScriptedAptos.ts';
export type {
  AptosStreamTrouble,
  RunningScriptedAptosStream,
  StartScriptedAptosStreamOptions,
} from './scriptedAptos/stream/runningAptosStream.ts';
export {
  encodeAptosMessage,
  startScriptedAptosStream,
} from './scriptedAptos/stream/startScriptedAptosStream.ts';
export { findPostgres, type InstalledPostgres } from './postgres/findPostgres.ts';
export { type Postgres, type PostgresOptions, startPostgres } from './postgres/postgres.ts';
export {
  type ClusterServer,
  type PostgresCluster,
  startPostgresCluster,
} from './postgres/postgresCluster.ts';
export { type KafkaMock, type KafkaRecord, startKafkaMock } from './kafka/kafkaMock.ts';
export { type Nats, type NatsOptions, type NatsServer, startNats } from './nats/nats.ts';
export {
  type RabbitMq,
  type RabbitMqOptions,
  type RabbitMqServer,
  startRabbitMq,
} from './rabbitMq/rabbitMq.ts';
export { type FaultProxy, type FaultProxyTarget, startFaultProxy } from './faultProxy.ts';
export { placeNames } from './anvil/placeNames.ts';
export { type TetheredProcess, type TetherOptions, startTethered } from './tether.ts';
export { until } from './until.ts';
