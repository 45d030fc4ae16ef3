import { defineConfig } from 'vitest/config'
import { patience } from './flows/patience'

// Flows: a browser against the program with the demo's data. Two files go at a time, each with a program of its own;
// the files of one program go one after the other, in any order.
export default defineConfig({
  test: {
    include: [process.env.LASTMILE_SCREENSHOTS ? 'flows/*.shots.ts' : 'flows/*.flow.ts'],
    globalSetup: 'flows/program.ts',
    maxConcurrency: 2,
    pool: 'forks',
    poolOptions: { forks: { minForks: 1, maxForks: process.env.LASTMILE_AT ? 1 : 2 } },
    testTimeout: 3 * patience, // a walk has many waits
    hookTimeout: patience,
    expect: { poll: { timeout: patience } }, // as the browser waits
  },
})
