export { startService } from './service.ts';
export type { Service } from './service.ts';
export {
  type Config,
  type ServiceConfig,
  type Settings,
  checkTogether,
  hasChains,
} from './config/config.ts';
export type { ConfigError } from './config/configError.ts';
export { splitNodeOptions } from './config/nodes.ts';
export { type GivenValue, readSetting } from './config/readSetting.ts';
export { readRoles } from './config/roles.ts';
export { FIELDS, type Field, flagOf, settingOf, variableOf } from './config/settings.ts';
export { type ValueSchema, kindOf, schemaOf } from './config/valueSchema.ts';
export { hideSecrets } from './base/hideSecrets.ts';
export { CallerError } from './base/errors.ts';
export type { CallerCode } from './base/errors.ts';
export { createLog } from './base/log.ts';
export type { Log, LogFields } from './base/log.ts';
export { backUpSqlite, restoreSqlite } from './store/engine/sqlite/sqliteBackup.ts';
