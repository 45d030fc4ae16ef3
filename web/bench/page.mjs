// Measures how long a page takes until it can be used: it shows what it was opened for, and a key opens the search.
// Input: {origin, token, path, shown, reads, loads}. `shown` selects what the page was opened for; `reads` are the
// addresses that a bare page asks for, which is the limit. Output: milliseconds, and the files that were loaded.
import { answer, given, quantile, slowed, within } from './browser.mjs'

/** watch runs in the page before its own scripts: it waits for the content, presses the key, and waits for the search. */
function watch(shown) {
  const times = { shown: 0, usable: 0 }
  window.measured = new Promise((done) => {
    const look = () => {
      if (times.shown === 0 && document.querySelector(shown)) {
        times.shown = performance.now()
        const key = { key: '/', code: 'Slash', bubbles: true, cancelable: true }
        document.documentElement.dispatchEvent(new KeyboardEvent('keydown', key))
      } else if (times.shown > 0 && document.activeElement?.matches('[role=dialog] input')) {
        times.usable = performance.now()
        return done(times)
      }
      requestAnimationFrame(look)
    }
    requestAnimationFrame(look)
  })
}

/** bare is a page without anything: it asks, writes the answers as text, and knows the key. */
const bare = `<!doctype html><main></main><script>
addEventListener('keydown', () => {
  document.body.insertAdjacentHTML('beforeend', '<div role="dialog"><input></div>')
  document.querySelector('input').focus()
})
Promise.all(${JSON.stringify(given.reads)}.map((path) => fetch(path).then((r) => r.json()))).then((all) => {
  document.querySelector('main').innerHTML = '<pre data-bare></pre>'
  document.querySelector('pre').textContent = JSON.stringify(all)
})
</script>`

async function timed(page, address) {
  await page.goto(address, { waitUntil: 'commit' })
  return page.evaluate(() => window.measured)
}

/** loaded are the files that the page is made of, without what it has asked the API for. */
const loaded = (page) => page.evaluate(() =>
  performance.getEntriesByType('resource').map((e) => new URL(e.name).pathname).filter((p) => p.startsWith('/app/')))

async function measure(address, shown, prepare) {
  const cold = []
  let warm = []
  let files = []
  for (let round = 0; round < given.rounds; round++) {
    await within(async (context) => {
      const page = await slowed(context)
      await prepare?.(page)
      await page.addInitScript(watch, shown)
      cold.push(await timed(page, address))
      files = await loaded(page)
      await timed(page, address) // the browser keeps compiled scripts from the second time on
      for (let n = 0; n < given.loads; n++) warm.push(await timed(page, address))
    })
  }
  const median = (list, what) => quantile(list.map((t) => t[what]), 50)
  return {
    cold: median(cold, 'usable'), warm: median(warm, 'usable'), shown: median(warm, 'shown'),
    worst: Math.max(...warm.map((t) => t.usable)), files,
  }
}

const page = await measure(`${given.origin}/app${given.path}`, given.shown)
const limit = await measure(`${given.origin}/bare`, '[data-bare]', (p) =>
  p.route('**/bare', (r) => r.fulfill({ contentType: 'text/html', body: bare })))
answer({ ...page, limitCold: limit.cold, limitWarm: limit.warm })
