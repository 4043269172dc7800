/** Reads and checks the values of settings. */
import { type ConfigError, configError } from './configError.ts';
import { type Field, type SettingValue, settingOf } from './settings.ts';
import { InvalidValue } from './setting.ts';
import { kindOf, schemaOf } from './valueSchema.ts';

/** A value as flags give it: one text, the texts of a list or mapping, or whether a switch is on. */
export type GivenValue = string | readonly string[] | boolean | undefined;

type OnError = (error: ConfigError) => void;

/**
 * Reads a setting.
 *
 * @param onError called for each invalid text; the returned value must then not be used
 */
export function readSetting<F extends Field>(
  field: F,
  given: GivenValue,
  onError: OnError,
): SettingValue<F> {
  const { read } = settingOf(field);
  if (read !== undefined) {
    return readTexts(field, read, given as readonly string[], onError) as SettingValue<F>;
  }
  const isNumber = kindOf(field) === 'number' && /^\d+(\.\d+)?$/.test(String(given));
  return checkSetting(field, isNumber ? Number(given) : given, onError);
}

/** Reads a list or mapping, and reports each invalid text. */
function readTexts(
  field: Field,
  read: (texts: readonly string[]) => unknown,
  texts: readonly string[],
  onError: OnError,
): unknown {
  const accepted: string[] = [];
  const problemOf = (text: string): InvalidValue | undefined => {
    try {
      read([...accepted, text]);
      accepted.push(text);
      return undefined;
    } catch (error) {
      if (error instanceof InvalidValue) return error;
      throw error;
    }
  };
  // A value may be valid only together with a later one, so the invalid values are checked again.
  for (const text of texts.filter((each) => problemOf(each) !== undefined)) {
    const invalid = problemOf(text);
    if (invalid === undefined) continue;
    const { value, shown, message } = invalid;
    onError(configError({ setting: field, value, shown, problem: message }));
  }
  return read(accepted);
}

/**
 * Checks the value of a setting, and returns it, or its default if it is undefined.
 *
 * @param onError called for each problem; the returned value must then not be used
 */
export function checkSetting<F extends Field>(
  field: F,
  value: unknown,
  onError: OnError,
): SettingValue<F> {
  const { type, read } = settingOf(field);
  // A value that was read from texts has already been checked.
  if (read !== undefined) return (value ?? read([])) as SettingValue<F>;
  const result = type.safeParse(value);
  if (result.success) return result.data as SettingValue<F>;
  for (const { path, message } of result.error.issues) {
    const [index] = path;
    const wrong: unknown = Array.isArray(value) ? value[Number(index)] : value;
    onError(
      configError({
        setting: field,
        value: String(wrong),
        problem: describeNumber(field) ?? message,
      }),
    );
  }
  return undefined as SettingValue<F>;
}

/** Describes the expected number; undefined if the setting is not a number. */
function describeNumber(field: Field): string | undefined {
  if (kindOf(field) !== 'number') return undefined;
  const { type, minimum, maximum } = schemaOf(field);
  const range = maximum === undefined ? `of at least ${minimum}` : `from ${minimum} to ${maximum}`;
  return `should be a ${type === 'integer' ? 'whole ' : ''}number ${range}`;
}
