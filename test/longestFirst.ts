/** Runs long test files first, so that no long file runs alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Vitest projects, slowest first. Projects that are not listed run before these. */
const PROJECTS = [
  ...['browser', 'story', 'runtimes', 'packed', 'conformance', 'docs', 'service', 'unit'],
];
/** Paths of tests that are slow because they wait for scripted chains or fill databases. */
const LONG_UNITS = /\/service\/src\/(ingest|store|deliver)\//;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ project, moduleId }: TestSpecification): number =>
      PROJECTS.indexOf(project.name) + (LONG_UNITS.test(moduleId) ? 0 : 0.5);
    const bySize = await super.sort(files);
    return bySize.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
