/** Runs long test files first, so that no long file runs alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Vitest projects, slowest first. Projects that are not listed run before these. */
const PROJECTS = [
  ...['browser', 'story', 'runtimes', 'packed', 'conformance', 'docs', 'service', 'unit'],
];
/** Suites of the store, each of which takes minutes and is one file. They run before all others. */
const LONGEST = /\/service\/test\/store\//;
/** Paths of tests that are slow because they wait for scripted chains or fill databases. */
const LONG_UNITS = /\/service\/src\/(ingest|store|deliver)\//;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ project, moduleId }: TestSpecification): number =>
      LONGEST.test(moduleId)
        ? -2
        : PROJECTS.indexOf(project.name) + (LONG_UNITS.test(moduleId) ? 0 : 0.5);
    const bySize = await super.sort(files);
    return bySize.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
