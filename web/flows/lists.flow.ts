import { expect } from 'vitest'
import { call, drawn, firstOf, flow, goTo, type Row, signIn } from './kit'

flow('who is at the end of a list while a filter is taken away gets the next rows', async ({ page }) => {
  await signIn(page, 'admin', '/receipts?state=allocated')
  const rows = page.locator('.rows-frame')
  await page.getByRole('row').nth(3).waitFor()
  let answer: () => void = () => undefined
  const line = new Promise<void>((done) => (answer = done)) // so slow that somebody scrolls first
  await page.route((url) => url.pathname === '/receipts' && !url.searchParams.has('state'), async (route) => {
    await line
    await route.continue()
  })
  const asked = page.waitForRequest((r) => r.url().includes('/receipts?') && !r.url().includes('state='))
  await page.getByRole('search').getByRole('combobox', { name: 'State' }).selectOption({ index: 0 })
  await asked
  const height = () => rows.evaluate((e) => e.scrollHeight)
  const before = await height()
  await rows.evaluate((e) => e.scrollTo(0, e.scrollHeight))
  await page.getByRole('row').filter({ has: page.locator('a') }).last().waitFor()
  answer()
  await expect.poll(height).toBeGreaterThan(before)
})

flow('nobody of those who are off behind a router is called online, and the filter names the router', async ({ page }) => {
  await signIn(page, 'support')
  const router = await firstOf(page, '/access-audits')
  // As in the first minutes of an outage: their sessions are not closed yet.
  const outage = { deviceId: router.deviceId, deviceName: router.deviceName, since: new Date().toISOString() }
  const { body: list } = await call<{ data: object[] }>(page, 'GET', '/subscribers?online=true')
  await page.route(/\/subscribers\?.*offBehind=/, (route) => {
    return route.fulfill({ json: { ...list, data: list.data.map((c) => ({ ...c, outage })) } })
  })
  await page.goto(`${new URL(page.url()).origin}/app/customers?offBehind=${String(router.deviceId)}`)
  const table = page.getByRole('table')
  await table.getByText(`Off: ${String(router.deviceName)}`).first().waitFor()
  expect(await table.getByRole('cell').getByText('Online', { exact: true }).count()).toBe(0)
  await page.getByRole('search').getByRole('button', { name: `Off behind ${String(router.deviceName)}` }).click()
  await table.getByText('Online', { exact: true }).first().waitFor()
})

flow('who opens a row by the keyboard is in the content of its page, and the next Tab is the first control there', async ({ page }) => {
  await signIn(page, 'admin', '/invoices')
  const row = page.locator('main td a').first()
  await row.focus()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: /DEMO-/ }).waitFor()
  await drawn(page)
  await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('content')
  await page.keyboard.press('Tab')
  expect(await page.getByRole('main').locator(':focus').count()).toBe(1)
})

flow('a batch of vouchers without a prefix is told by its whole date and time', async ({ page, context }) => {
  await page.setViewportSize({ width: 1366, height: 768 })
  await signIn(page, 'admin')
  const { body } = await call<{ data: Row[] }>(page, 'GET', '/vouchers?limit=20')
  // Of each month the widest day; the year is written of those that are long ago.
  const months = new Date().getUTCMonth()
  body.data.forEach((v, n) => Object.assign(v, { prefix: null, createdAt: new Date(Date.UTC(new Date().getUTCFullYear(), months - n, 28, 17, 28)).toISOString() }))
  for (const language of ['en', 'sw']) {
    const other = await context.newPage()
    await other.addInitScript((l) => localStorage.setItem('lastmile.language', l), language)
    await other.route('**/vouchers?*', (route) => route.fulfill({ json: { ...body, nextCursor: null } }))
    await goTo(other, 'admin', '/vouchers')
    const batches = other.locator('main a[href*=batchId]')
    await batches.first().waitFor()
    for (const width of [1366, 360]) {
      await other.setViewportSize({ width, height: 768 })
      const cut = await batches.evaluateAll((all) => all.filter(({ parentElement: cell }) => cell && cell.scrollWidth > cell.clientWidth).map((a) => a.textContent))
      expect(cut, `${language} ${width}`).toEqual([])
    }
  }
})

flow('what somebody reads in a list stays where it is while others come above it', async ({ page }) => {
  await page.setViewportSize({ width: 1366, height: 420 })
  await signIn(page, 'admin', '/customers')
  const frame = page.locator('.rows-frame')
  await page.getByRole('row').nth(5).waitFor()
  await frame.evaluate((e) => e.scrollTo(0, 320))
  const seen = () => frame.evaluate((e) => {
    const head = e.querySelector('thead')!.getBoundingClientRect().bottom
    const row = [...e.querySelectorAll('tr[data-index]')].find((r) => r.getBoundingClientRect().top >= head - 1)!
    return `${row.querySelector('a')!.textContent} ${Math.round(row.getBoundingClientRect().top - head)}`
  })
  await expect.poll(seen).not.toMatch(/^$/)
  const before = await seen()
  for (const n of [0, 1, 2]) {
    await call(page, 'POST', '/subscribers', { firstName: 'Mpya', lastName: `Juu${n}`, phone: `+2547${String(Date.now() + 10 + n).slice(-8)}` })
  }
  await expect.poll(() => frame.evaluate((e) => e.scrollTop)).toBe(320 + 3 * 32)
  expect(await seen()).toBe(before)
})

flow('a debt of an age leads to the customers who owe it, and the revenue of a year to the days of a month', async ({ page }) => {
  await signIn(page, 'support', '/ageing')
  const { body } = await call<{ buckets: { name: string; customers: number; amount: number }[] }>(page, 'GET', '/reports/ageing')
  const age = body.buckets.find((b) => b.name === '1-30')!
  await page.getByRole('link', { name: '1 to 30' }).click()
  const who = page.getByRole('table', { name: 'Who owes: 1 to 30' })
  await expect.poll(() => who.getByRole('row').count()).toBe(age.customers + 1)
  const customer = who.getByRole('link').first()
  const name = await customer.innerText()
  await customer.click()
  await page.getByRole('heading', { level: 1, name }).waitFor()
  await goTo(page, 'support', '/revenue')
  await page.getByRole('button', { name: '12 months' }).click()
  const months = page.getByRole('table', { name: 'By time' })
  await months.getByRole('columnheader', { name: 'Month' }).waitFor()
  await months.getByRole('link').nth(1).click()
  await months.getByRole('columnheader', { name: 'Day' }).waitFor()
  await page.getByRole('link', { name: 'Home 10 Mbps' }).click()
  await page.getByRole('heading', { level: 1, name: 'Home 10 Mbps' }).waitFor()
})
