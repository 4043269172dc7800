/**
 * Lets property tests generate lists and texts up to their `maxLength`. Otherwise, fast-check stops
 * at about ten more than their `minLength`.
 */
import fc from 'fast-check';

fc.configureGlobal({ defaultSizeToMaxWhenMaxSpecified: true });
