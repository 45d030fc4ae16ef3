import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { focusIn } from './hands'
import { at, besideOthers, firstOf, goTo, signIn } from './kit'

const box = (page: Page) => page.getByRole('combobox', { name: 'Search' })

besideOthers('a customer is found by / and typing, opened by Enter, and Esc leads back to filter and place', async ({ page }) => {
  await page.setViewportSize({ width: 1366, height: 420 })
  await signIn(page, 'support', '/customers?status=active')
  const rows = page.locator('.rows-frame')
  await page.getByRole('row').nth(3).waitFor()
  await rows.evaluate((e) => e.scrollTo(0, 100))
  const before = await rows.evaluate((e) => e.scrollTop)
  expect(before).toBeGreaterThan(0)
  // The router notes the place within a tenth of a second, and nobody types a name in less.
  await page.waitForFunction((y) => Object.values(sessionStorage).some((noted) => String(noted).includes(`"scrollY":${y}`)), before)
  await page.keyboard.press('/')
  await box(page).fill('hibi')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Hibiscus House' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('table').waitFor()
  expect(new URL(page.url()).search).toBe('?status=active')
  await expect.poll(() => rows.evaluate((e) => e.scrollTop)).toBe(before)
})

besideOthers('what is typed behind the / is searched for, from the first key on, and does nothing to the page below', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await firstOf(page, '/subscribers?q=ironwood')
  await goTo(page, 'admin', `/customers/${id}`)
  await page.keyboard.type('/podo') // p takes a payment there
  await expect.poll(() => box(page).inputValue()).toBe('podo')
  await page.getByRole('option', { name: /Podo House/ }).first().waitFor()
  expect(await page.getByRole('dialog').count()).toBe(1)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Podo House' }).waitFor()
  // Esc in a dialog closes it, and leads nowhere back.
  await page.keyboard.press('p')
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).focus()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
  await page.getByRole('heading', { level: 1, name: 'Podo House' }).waitFor()
})

besideOthers('what is typed before the search itself has been read is taken over, and so is Enter', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await firstOf(page, '/subscribers?q=ironwood')
  let read: () => void = () => undefined
  const line = new Promise<void>((done) => (read = done))
  await page.route(/\/assets\/Palette-/, async (route) => {
    await line
    await route.continue()
  })
  await goTo(page, 'admin', `/customers/${id}`)
  await page.keyboard.type('/podo')
  await page.keyboard.press('Enter')
  expect(await page.getByRole('dialog', { name: 'Search' }).getByRole('textbox').inputValue()).toBe('podo')
  read()
  await page.getByRole('heading', { level: 1, name: 'Podo House' }).waitFor()
})

besideOthers('Enter that comes before the answer opens what was typed last', async ({ page }) => {
  await signIn(page, 'support')
  await page.keyboard.press('Control+k')
  await box(page).fill('acacia')
  await page.getByRole('option', { name: /Acacia House/ }).first().waitFor()
  let typed: () => void = () => undefined
  const line = new Promise<void>((done) => (typed = done)) // so slow that Enter comes first
  await page.route('**/search?*', async (route) => {
    await line
    await route.continue()
  })
  await box(page).fill('hibiscus')
  const asked = page.waitForRequest(/search\?q=hibiscus/)
  await page.keyboard.press('Enter')
  await asked
  typed()
  await page.getByRole('heading', { level: 1, name: 'Hibiscus House' }).waitFor()
})

besideOthers('Enter that comes before the answer is kept when the first answer is a failure', async ({ page }) => {
  await signIn(page, 'support')
  await page.keyboard.press('Control+k')
  let refused = 0
  await page.route('**/search?q=hibiscus', async (route) => {
    if (refused++ > 0) return route.continue()
    await route.fulfill({ status: 503, json: { statusCode: 503, code: 'database_unavailable', message: 'Please try again.', error: 'Service Unavailable' } })
  })
  await box(page).fill('hibiscus')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Hibiscus House' }).waitFor()
  expect(refused).toBe(2)
})

besideOthers('the search tells how much it has found, and that nothing fits', async ({ page }) => {
  await signIn(page, 'support')
  await page.keyboard.press('/')
  await box(page).fill('house')
  await page.getByRole('status').filter({ hasText: /^\d+ results?$/ }).waitFor()
  await page.keyboard.press('ArrowDown')
  const chosen = await box(page).getAttribute('aria-activedescendant')
  expect(await page.locator(`#${chosen}`).getAttribute('aria-selected')).toBe('true')
  await box(page).fill('<b>qxzv</b>')
  await page.getByText('Nothing found.').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'hidden' })
})

besideOthers('an invoice, a receipt and a router are found by what people read out', async ({ page }) => {
  await signIn(page, 'admin')
  const { receiptNumber } = await firstOf(page, '/receipts?state=allocated')
  for (const [typed, address] of [
    [String(receiptNumber), /\/app\/receipts\/[0-9a-f-]{36}$/],
    ['DEMO-0001', /\/app\/invoices\/[0-9a-f-]{36}$/],
    ['tower-north', /\/app\/routers\/[0-9a-f-]{36}$/],
  ] as const) {
    await page.keyboard.press('/')
    await box(page).fill(typed)
    await page.keyboard.press('Enter')
    await page.waitForURL(address)
  }
  await page.goto(`${at.isp}/app/`)
})

besideOthers('a page that was found has the focus, whatever the search was opened from', async ({ page }) => {
  await signIn(page, 'admin', '/customers')
  // The button stays on every page, and would have the focus back.
  await page.locator('.search-box').focus()
  await page.keyboard.press('Enter')
  await box(page).fill('podo')
  await page.getByRole('option', { name: /Podo House/ }).first().waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Podo House' }).waitFor()
  await focusIn(page, '#content')
  // From one customer to another the page is the same one.
  await page.locator('.search-box').focus()
  await page.keyboard.press('Enter')
  await box(page).fill('hibiscus')
  await page.getByRole('option', { name: /Hibiscus House/ }).first().waitFor()
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Hibiscus House' }).waitFor()
  await focusIn(page, '#content')
  // Who leaves the search without a page is where he was.
  await page.locator('.search-box').focus()
  await page.keyboard.press('Enter')
  await box(page).waitFor()
  await page.keyboard.press('Escape')
  await focusIn(page, '.search-box')
})

besideOthers('after the calls behind a page the focus is at the button of the account', async ({ page }) => {
  await signIn(page, 'support', '/customers')
  const account = page.getByRole('button', { name: 'Your account' })
  const line = page.getByRole('menuitem', { name: 'Calls behind this page' })
  const drawer = page.getByRole('dialog', { name: 'Calls behind this page' })
  // The first time the drawer is read before it is drawn.
  for (const open of [() => page.keyboard.press('Enter'), () => line.click()]) {
    await account.focus()
    await page.keyboard.press('Enter')
    await line.waitFor()
    await line.focus()
    await open()
    await drawer.waitFor()
    await page.waitForFunction(() => document.activeElement?.closest('[role=dialog]') != null)
    await page.keyboard.press('Escape')
    await drawer.waitFor({ state: 'detached' })
    await focusIn(page, 'button[aria-label="Your account"]')
  }
})

// React holds a part that has just been read back for a moment, in which the field before it takes the keys.
for (const late of [0, 120, 250, 400]) {
  besideOthers(`no letter is lost where the search comes ${late} ms after the page`, async ({ page }) => {
    await signIn(page, 'support')
    await page.route(/\/assets\/Palette-/, async (route) => {
      await new Promise((done) => setTimeout(done, late))
      await route.continue()
    })
    await page.goto(`${at.isp}/app/customers`)
    await page.locator('.search-box').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('mwarobaini', { delay: 70 })
    await page.waitForTimeout(400)
    expect(await page.getByRole('dialog', { name: 'Search' }).locator('input').inputValue()).toBe('mwarobaini')
  })
}
