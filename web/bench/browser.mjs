// What the measurements in a browser share: a slowed Chromium with a profile of its own, and somebody who is signed in.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'

/** given is what the caller wants to know, as JSON in the first argument. */
export const given = JSON.parse(process.argv[2])

/** slower is by how much the processor is slowed: a laptop of the front desk beside the machine that runs this. */
const slower = 4

/** within gives a browser with an empty profile to do, and takes both away again. */
export async function within(run) {
  const profile = await mkdtemp(join(tmpdir(), 'lastmile-bench-'))
  const { host, hostname } = new URL(given.origin)
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    viewport: { width: 1366, height: 768 },
    args: [
      '--no-sandbox',
      `--host-resolver-rules=MAP ${hostname} 127.0.0.1`,
      // An installation is reached by https, where a page may do more.
      `--unsafely-treat-insecure-origin-as-secure=http://${host}`,
    ],
  })
  try {
    await context.addCookies([{ name: 'access_token', value: given.token, url: given.origin }])
    return await run(context)
  } finally {
    await context.close()
    await rm(profile, { recursive: true, force: true })
  }
}

/** slowed opens an empty window on the slowed processor. */
export async function slowed(context) {
  const page = await context.newPage()
  page.setDefaultTimeout(120_000)
  const devtools = await context.newCDPSession(page)
  await devtools.send('Emulation.setCPUThrottlingRate', { rate: slower })
  return page
}

/** answer is what the caller gets. */
export const answer = (found) => process.stdout.write(JSON.stringify(found))

/** quantile is the value below which about so many percent of the list lie. */
export function quantile(list, percent) {
  const sorted = [...list].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))]
}
