export { type Anvil, type AnvilOptions, startAnvil } from './anvil.ts';
export { findAnvil } from './findAnvil.ts';
export { type DevAccount, devAccounts } from './devAccounts.ts';
export {
  answers,
  crier,
  multicall,
  oddToken,
  sluiceCollectible,
  sluiceItems,
  sluiceToken,
  valueMover,
} from './contracts.generated.ts';
export { type Activity, type ActivityOptions, startActivity } from './activity.ts';
export { type DeployedContracts, deployContracts, localContracts } from './deployContracts.ts';
export { type CertificateOptions, type CertifiedKey, createCertificate } from './certificate.ts';
export type { SinkAnswer, SinkBehaviour, SinkSilence } from './sinkBehaviour.ts';
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
export type { ScriptedCall } from './scriptedChain/rpcMethods.ts';
export {
  type RunningScriptedChain,
  type StartScriptedChainOptions,
  startScriptedChain,
} from './scriptedChain/startScriptedChain.ts';
export type { Trouble, TroubleKind, TroubleScope } from './scriptedChain/trouble.ts';
export {
  type AptosActivity,
  type AptosActivityOptions,
  aptosDevAccounts,
  aptosDevAsset,
  startAptosActivity,
} from './scriptedAptos/aptosActivity.ts';
export {
  aptCoinType,
  aptMetadata,
  namedObjectOf,
  namedTokenOf,
  primaryStoreOf,
  toLongAddress,
  toShortAddress,
} from './scriptedAptos/aptosAddress.ts';
export type { AptosRoute, AptosTrouble } from './scriptedAptos/aptosTrouble.ts';
export type {
  MoveValue,
  RestBlock,
  RestChange,
  RestEvent,
  RestLedgerInfo,
  RestTransaction,
  RestUserTransaction,
} from './scriptedAptos/restShapes.ts';
export {
  type AptosBlockScript,
  type ScriptedAptosBlock,
  type ScriptedAptosLedger,
  type ScriptedAptosLedgerOptions,
  createScriptedAptosLedger,
} from './scriptedAptos/scriptedAptosLedger.ts';
export {
  type AptosEffect,
  type AptosFungibleAsset,
  type AptosStore,
  type ScriptedAptosTransaction,
  scriptedAptos,
} from './scriptedAptos/scriptedAptosTransaction.ts';
export {
  type RunningScriptedAptos,
  type StartScriptedAptosOptions,
  startScriptedAptos,
} from './scriptedAptos/startScriptedAptos.ts';
export {
  type AptosStreamTrouble,
  type RunningScriptedAptosStream,
  type StartScriptedAptosStreamOptions,
  encodeAptosMessage,
  startScriptedAptosStream,
} from './scriptedAptos/startScriptedAptosStream.ts';
export { findPostgres } from './findPostgres.ts';
export { type Postgres, type PostgresOptions, startPostgres } from './postgres.ts';
export {
  type ClusterServer,
  type PostgresCluster,
  startPostgresCluster,
} from './postgresCluster.ts';
export { type FaultProxy, type FaultProxyTarget, startFaultProxy } from './faultProxy.ts';
export { placeNames } from './placeNames.ts';
export { until } from './until.ts';
