import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import {
  at, besideOthers, call, drawn, expectNoSideways, goTo, people, phone, type Role, type Row, sideways, signIn, withoutPower,
} from './kit'
import { pathOf, screens } from './screens'

besideOthers('while the API is away each part says so, and trying again helps', async ({ page }) => {
  // Without its stream the page reads nothing again by itself.
  await page.route('**/events/stream*', (route) => route.abort())
  await signIn(page, 'support')
  await page.route('**/subscribers?*', (route) => route.abort())
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Customers' }).click()
  await page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor()
  await page.unroute('**/subscribers?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('row').nth(3).waitFor()
})

besideOthers('an error of the server shows its request id', async ({ page }) => {
  await signIn(page, 'support')
  await page.route('**/subscribers?*', (route) => {
    return route.fulfill({
      status: 500,
      headers: { 'X-Request-Id': 'req-of-a-flow' },
      json: { statusCode: 500, error: 'Internal Server Error', message: 'Something failed.', code: 'internal' },
    })
  })
  await page.goto(`${at.isp}/app/customers`)
  await page.getByRole('alert').getByText('req-of-a-flow').waitFor()
})

const names = [
  ['500 letters', 'W'.repeat(500)],
  ['100 letters', 'W'.repeat(100)],
  ['markup', '<script>document.title="stolen"</script><img src=x onerror=alert(1)>'],
  ['right to left', 'شركة النخلة للاتصالات'],
  ['pictures', '👩🏽‍💻🏠🌴 Nyumba ya Familia 🦒'],
] as const

for (const [kind, name] of names) {
  besideOthers(`a name with ${kind} is text, and breaks no page of a phone`, async ({ page }) => {
    await signIn(page, 'admin')
    const last = `Jina ${Date.now()}`
    const made = await call<{ id: string; firstName: string; message: string }>(page, 'POST', '/subscribers', {
      firstName: name, lastName: last, phone: `07${String(Date.now()).slice(-8)}`,
    })
    if (made.status === 422) {
      // The API says how long a name may be; what it does not take cannot break a page.
      expect(kind).toBe('500 letters')
      return
    }
    expect(made.status).toBe(201)
    await page.goto(`${at.isp}/app/customers?q=${encodeURIComponent(last)}`)
    await page.getByRole('link', { name: last }).waitFor()
    await expectNoSideways(page, 'the list')
    await page.goto(`${at.isp}/app/customers/${made.body.id}`)
    const h1 = page.getByRole('heading', { level: 1 })
    await h1.filter({ hasText: last }).waitFor()
    expect(await h1.innerText()).toContain(made.body.firstName)
    await expectNoSideways(page, 'the customer')
    expect(await page.title()).not.toBe('stolen')
  }, phone)
}

// What the frame around a page asks for. A page that has failed stands in a frame that lives.
const ofTheFrame = /\/auth\/|\/settings\/organization$|\/events\/stream/

/** answersWith makes the API answer what pages read with something else. */
async function answersWith(page: Page, give: (path: string) => { status: number; json: object } | 'nothing') {
  await page.route((url) => !url.pathname.startsWith('/app') && !ofTheFrame.test(url.pathname), (route) => {
    const answer = give(new URL(route.request().url()).pathname)
    return answer === 'nothing' ? route.abort() : route.fulfill(answer)
  })
}

const broken = { status: 500, json: { statusCode: 500, error: 'Internal Server Error', message: 'Something failed.', code: 'internal' } }
for (const role of ['root'] satisfies Role[]) {
    besideOthers(`a page for ${role} says so in words when the API fails, and is whole again when it answers`, async ({ page }) => {
      await signIn(page, role)
      const places: [string, string][] = []
      for (const s of screens.filter((s) => s.role === role)) places.push([s.name, await pathOf(s, page)])
      await answersWith(page, () => broken)
      const faults: string[] = []
      for (const [name, path] of places) {
        // Forms that read nothing first, and the account, have nothing to fail.
        if (/\/new$|^\/account$/.test(path)) continue
        await page.goto(`${people[role].host}/app${path}`)
        const said = await page.getByRole('alert').first().waitFor().then(() => true, () => false)
        if (!said) faults.push(`${name} says nothing`)
        if (!/\w/.test(await page.locator('main h1').first().innerText({ timeout: 1_000 }).catch(() => ''))) faults.push(`${name} has no name`)
        if (await sideways(page) > 0) faults.push(`${name} is wider than the window`)
      }
      expect(faults).toEqual([])
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await page.getByRole('button', { name: 'Try again' }).first().click()
      await drawn(page)
    })
}

besideOthers('what is not there has a name, words and the way to its list', async ({ page }) => {
  await signIn(page, 'admin')
  const nothing = '00000000-0000-4000-8000-000000000000'
  for (const [path, list] of [
    ['customers', 'Customers'], ['payments', 'Payments'], ['receipts', 'Receipts'], ['invoices', 'Invoices'], ['plans', 'Plans'],
    ['sessions', 'Sessions'], ['routers', 'Routers'], ['services', 'Routers'], ['staff', 'Staff'],
  ] as const) {
    await page.goto(`${at.isp}/app/${path}/${nothing}`)
    await page.getByRole('alert').first().waitFor()
    expect(await page.locator('main h1').innerText(), path).toMatch(/\w/)
    const back = page.getByRole('main').getByRole('link', { name: `Go to ${list}` }).first()
    await back.click()
    await page.getByRole('heading', { level: 1, name: list }).waitFor()
  }
})

besideOthers('an organization with a long name leaves room for the search on a phone', async ({ page }) => {
  await signIn(page, 'admin')
  const me = (await call<Row>(page, 'GET', '/auth/me')).body
  await page.route('**/auth/me', (route) => route.fulfill({ json: { ...me, org: { ...(me.org as object), name: 'W'.repeat(200) } } }))
  await goTo(page, 'admin', '/customers')
  await expectNoSideways(page)
  await page.getByRole('button', { name: 'Search' }).click()
  await page.getByRole('combobox', { name: 'Search' }).waitFor()
}, phone)

besideOthers('a filter that offers a part of what there is says so, and trying again brings the rest', async ({ page }) => {
  let refused = 0
  const plan = (name: string) => ({ id: name, name, kind: 'pppoe', archived: false })
  await page.route('**/plans?*', (route) => {
    if (!route.request().url().includes('cursor=')) {
      return route.fulfill({ json: { data: [plan('First')], hasMore: true, nextCursor: 'second' } })
    }
    return refused++ === 0
      ? route.fulfill({ status: 500, json: { code: 'internal', message: 'Failed.' } })
      : route.fulfill({ json: { data: [plan('Second')], hasMore: false, nextCursor: null } })
  })
  await signIn(page, 'support', '/customers')
  const note = page.getByText('Not all choices could be read.')
  await note.waitFor()
  const offered = page.getByRole('combobox', { name: 'Plan' }).locator('option')
  expect(await offered.allInnerTexts()).toEqual(['Plan', 'First'])
  expect(refused).toBe(1)
  await page.getByRole('button', { name: 'Try again' }).click()
  await note.waitFor({ state: 'detached' })
  expect(await offered.allInnerTexts()).toEqual(['Plan', 'First', 'Second'])
})

// The last forty days, since a month that has just begun has no money and no chart.
const collections = `/collections?from=${new Date(Date.now() - 40 * 24 * 3600_000).toISOString().slice(0, 10)}`

besideOthers('a part of a page that is lost on the way takes nothing else away, and can be asked for again', async ({ page }) => {
  await signIn(page, 'admin')
  let asked = 0
  await page.route('**/assets/Chart-*.js', (route) => {
    asked++
    return route.abort()
  })
  await goTo(page, 'admin', collections)
  const note = page.getByRole('alert').filter({ hasText: 'could not be read' })
  await note.waitFor()
  expect(asked, 'tries before it is said').toBeGreaterThanOrEqual(3)
  await page.getByRole('heading', { level: 1, name: 'Collections' }).waitFor()
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Home' }).waitFor()
  await page.unroute('**/assets/Chart-*.js')
  await note.getByRole('button', { name: 'Try again' }).click()
  await page.locator('.chart canvas').first().waitFor()
  await note.waitFor({ state: 'hidden' })
})

besideOthers('a part of a page that was lost on the way comes by itself when it can be read', async ({ page }) => {
  await signIn(page, 'admin')
  await page.clock.install()
  await page.route('**/assets/Chart-*.js', (route) => route.abort())
  await page.goto(`${at.isp}/app${collections}`)
  const note = page.getByRole('alert').filter({ hasText: 'could not be read' })
  await note.waitFor()
  await page.clock.fastForward(16_000)
  expect(await note.count(), 'it stays said while it cannot be read').toBe(1)
  await page.unroute('**/assets/Chart-*.js')
  await page.clock.fastForward(16_000)
  await page.locator('.chart canvas').first().waitFor()
  await note.waitFor({ state: 'detached' })
})

besideOthers('a page whose reads fail says that it may be old although its stream lives, and is fresh again by itself', async ({ page }) => {
  await signIn(page, 'admin')
  await page.clock.install()
  await page.goto(`${at.isp}/app/`)
  await drawn(page)
  await page.getByRole('status', { name: 'Live', exact: true }).waitFor()
  await answersWith(page, () => ({ status: 503, json: { statusCode: 503, code: 'database_unavailable', message: 'Away.' } }))
  await page.clock.fastForward(61_000) // the page of today is read each minute
  const words = 'What you see may be old: the server cannot answer now.'
  await expect.poll(async () => {
    await page.clock.fastForward(5_000)
    return page.getByRole('status').getByText(words).count()
  }).toBe(1)
  await page.getByRole('banner').getByRole('status', { name: words }).waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.clock.fastForward(61_000)
  await page.getByText(words).waitFor({ state: 'detached' })
  await page.getByRole('status', { name: 'Live', exact: true }).waitFor()
})

besideOthers('without a network a page says at once that the server cannot be reached, and is there when it is back', async ({ page, context }) => {
  await signIn(page, 'admin', '/invoices')
  const rows = page.getByRole('main').getByRole('row').getByRole('link')
  await rows.nth(0).click()
  await page.getByRole('heading', { level: 1, name: 'Invoice' }).waitFor()
  await drawn(page)
  await page.goBack()
  await rows.nth(0).waitFor()
  const another = page.locator('main a[href*="/invoices/"]').nth(3)
  await another.waitFor()
  await context.setOffline(true)
  await another.click()
  await page.getByRole('main').getByRole('alert').getByText('The server cannot be reached.').first().waitFor()
  await page.getByRole('main').getByRole('button', { name: 'Try again' }).first().waitFor()
  await page.keyboard.press('/')
  await page.getByRole('combobox', { name: 'Search' }).fill('acacia')
  await page.getByRole('dialog').getByText('The search failed. The server cannot be reached.').first().waitFor()
  await page.keyboard.press('Escape')
  await context.setOffline(false)
  await page.getByRole('main').getByRole('button', { name: 'Try again' }).first().click()
  await page.getByRole('alert').first().waitFor({ state: 'detached' })
})

besideOthers('a search that fails says one thing, what to do, and finds by itself later', async ({ page }) => {
  await signIn(page, 'support')
  await page.clock.install()
  await page.route('**/search?*', (route) => {
    return route.fulfill({ status: 503, json: { statusCode: 503, code: 'database_unavailable', message: 'Please try again.' } })
  })
  await page.goto(`${at.isp}/app/`)
  await drawn(page)
  await page.keyboard.press('/')
  const dialog = page.getByRole('dialog', { name: 'Search' })
  await dialog.getByRole('combobox').fill('acacia')
  await dialog.getByRole('status').getByText('The search failed. Please try again. It is tried again by itself.').waitFor()
  expect(await dialog.innerText()).not.toContain('Nothing found')
  await page.unroute('**/search?*')
  await page.clock.fastForward(16_000)
  await dialog.getByRole('option', { name: /Acacia House/ }).first().waitFor()
  expect(await dialog.innerText()).not.toContain('failed')
})

besideOthers('after an upgrade a page that was opened before opens the new one', async ({ page }) => {
  await signIn(page, 'admin')
  await drawn(page)
  // The server has other files by now: what this page names is gone, and the page names others.
  await page.route(/\/app\/assets\/SessionsPage-.*\.js/, (route) => route.fulfill({ status: 404, body: '' }))
  const now = await page.evaluate(async () => (await fetch('/app/')).text())
  await page.route(/\/app\/$/, (route) => {
    return route.fulfill({ contentType: 'text/html', body: now.replace(/index-[^."]+\.js/, 'index-new.js') })
  })
  const reloaded = page.waitForEvent('load')
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Sessions' }).click()
  await reloaded
  await page.unrouteAll()
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor()
})

besideOthers('who is off because a router does not answer is told of the outage, by support too', async ({ page }) => {
  await signIn(page, 'admin')
  const router = await withoutPower(page)
  await signIn(page, 'support')
  await page.getByRole('link', { name: /customers? (is|are) off/ }).first().waitFor() // to the outage, once it lasts for two minutes
  await goTo(page, 'support', `/customers?offBehind=${router}`)
  const rows = page.getByRole('main').getByRole('row')
  const entitled = rows.filter({ has: page.getByText('Full', { exact: true }) })
  await entitled.first().getByRole('link').first().click()
  const answer = page.locator('section.answer')
  await answer.getByText(/but hill-east has not answered since .*: an outage of ours\./).waitFor()
  await answer.getByText('Nothing has to be done at the customer’s', { exact: false }).waitFor()
  expect(await answer.getByRole('button').count() + await answer.getByRole('link').count()).toBe(0)
  await page.getByText('Off: hill-east does not answer').waitFor()
})
