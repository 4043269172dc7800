/** Errors of settings. */
import { CallerError } from '../base/errors.ts';
import { hideSecrets } from '../base/hideSecrets.ts';
import { type Field, flagOf, settingOf } from './settings.ts';

interface Problem {
  setting: Field;
  /** The invalid text. Default: none, if the message should not contain it. */
  value?: string | undefined;
  /** The text as messages show it. Default: `value`, unless the setting is a secret. */
  shown?: string | undefined;
  /** The reason, such as `should be a whole number`. */
  problem: string;
}

/**
 * An invalid setting. Its message names the flag; the command line replaces it with the place that
 * sets the value.
 */
export class ConfigError extends CallerError<'usage'> implements Problem {
  readonly setting: Field;
  readonly value: string | undefined;
  readonly shown: string | undefined;
  readonly problem: string;

  constructor({ setting, value, shown = value, problem }: Problem) {
    const visible = settingOf(setting).isSecret ? undefined : shown;
    const before = visible === undefined ? '' : ` ${visible}`;
    super('usage', hideSecrets(`${flagOf(setting)}${before}: ${problem}`));
    this.setting = setting;
    this.value = value;
    this.shown = visible;
    this.problem = problem;
  }
}

export const configError = (problem: Problem): ConfigError => new ConfigError(problem);
