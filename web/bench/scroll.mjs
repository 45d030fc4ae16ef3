// Measures frames while the list of customers is scrolled as by a turning wheel, at its beginning and far down; how many
// rows come when somebody drags the bar to the end of the list, again and again; and how long it takes until another
// part of the list is there. Input: {origin, token, rows, seconds}. Output: milliseconds, shares, and how far it came.
import { answer, given, quantile, slowed, within } from './browser.mjs'

// What one frame scrolls, in pixels: a dozen rows by the wheel, everything by the bar.
const wheel = 400
const bar = 1e6

/** typed are words in the filter, each of which begins the list with another customer than the one before. */
const typed = ['First77', 'First5', 'First9991', 'First12']

/** scroll runs in the page: it scrolls at each frame, until all rows have come or the time is over. */
function scroll({ step, seconds, rows }) {
  const frame = document.querySelector('.rows-frame')
  const began = performance.now()
  const frames = []
  let empty = 0
  let reached = 0
  return new Promise((done) => {
    const next = (before) => requestAnimationFrame((now) => {
      frames.push(now - before)
      const all = frame.querySelectorAll('tr[data-index]')
      reached = Math.max(reached, Number(all[all.length - 1]?.dataset.index ?? 0) + 1)
      const box = frame.getBoundingClientRect()
      const seen = document.elementFromPoint(box.left + 40, box.top + box.height / 2)
      if (!seen?.closest('tr[data-index]')) empty++
      if (reached >= rows || now - began > seconds * 1000) return done({ frames, empty, reached, took: now - began })
      frame.scrollTop += step
      next(now)
    })
    next(performance.now())
  })
}

/** first is the address of the first row. */
const first = () => document.querySelector('tr[data-index="0"] a')?.getAttribute('href')

/** typing types into the filter, and gives the time until the first row is another one. */
async function typing(page, word) {
  const before = await page.evaluate(first)
  const began = Date.now()
  await page.locator('main [role=search] input').first().fill(word)
  await page.waitForFunction((before) => {
    const now = document.querySelector('tr[data-index="0"] a')?.getAttribute('href')
    return now && now !== before
  }, before, { timeout: 20_000 })
  return Date.now() - began
}

/** plain is a page as tall as the list, with nothing to draw. */
const plain = `<!doctype html><div class="rows-frame" style="height:600px;overflow:auto">
<table><tbody><tr data-index="0"><td style="height:${given.rows * 32}px;width:600px">-</td></tr></tbody></table></div>`

const of = ({ frames, empty, reached, took }) => ({
  p95: quantile(frames, 95), longest: Math.max(...frames), long: frames.filter((f) => f > 50).length / frames.length,
  empty: empty / frames.length, reached, seconds: took / 1000,
})

await within(async (context) => {
  const page = await slowed(context)
  await page.goto(`${given.origin}/app/customers`)
  await page.locator('tr[data-index="0"] a').first().waitFor()
  const took = []
  for (const word of [...typed, '']) took.push(await typing(page, word))
  const first = of(await page.evaluate(scroll, { step: wheel, seconds: 6, rows: given.rows }))
  const dragged = of(await page.evaluate(scroll, { step: bar, seconds: given.seconds, rows: given.rows }))
  const late = of(await page.evaluate(scroll, { step: -wheel, seconds: 6, rows: given.rows + 1 }))
  const heap = await page.evaluate(() => performance.memory.usedJSHeapSize / 1e6)
  await page.close()
  const bare = await slowed(context)
  await bare.setContent(plain)
  const limit = of(await bare.evaluate(scroll, { step: wheel, seconds: 3, rows: given.rows }))
  answer({
    ...first, lateP95: late.p95, reached: dragged.reached, rowsEach: dragged.reached / dragged.seconds,
    dragged: dragged.longest, part: Math.max(...took), limit: limit.p95, heap,
  })
})
