/** Makes property tests use the same inputs in each run. */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: 1 });
