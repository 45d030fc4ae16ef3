import { defineConfig } from 'vitest/config'

// Flows: a browser against the program with the demo's data. One program serves all of them, one after the other.
export default defineConfig({
  test: {
    include: [process.env.LASTMILE_SCREENSHOTS ? 'flows/*.shots.ts' : 'flows/*.flow.ts'],
    globalSetup: 'flows/program.ts',
    fileParallelism: false,
    maxConcurrency: 2,
    pool: 'forks',
    poolOptions: { forks: { singleFork: true } },
    testTimeout: 90_000,
    hookTimeout: 240_000,
  },
})
