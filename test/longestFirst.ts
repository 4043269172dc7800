/** Runs long test files first, so that no worker runs a long file alone at the end. */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Projects, slowest first. */
const PROJECTS = ['browser', 'story', 'runtimes', 'packed', 'conformance', 'docs', 'unit'];
/** Unit tests that wait for scripted chains or fill databases. */
const LONG_UNITS = /\/service\/src\/(ingest|store|deliver)\//;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ project, moduleId }: TestSpecification): number =>
      PROJECTS.indexOf(project.name) + (LONG_UNITS.test(moduleId) ? 0 : 0.5);
    const bySize = await super.sort(files);
    return bySize.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}
