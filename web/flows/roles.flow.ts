import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { mayCall, type Operation } from '../src/api/access'
import { besideOthers, call, expectNoViolations, goTo, type Role, signIn } from './kit'
import { pathOf, type Screen, screens } from './screens'

// What a role may not do is not shown, and a page that it may not see says so. The API has the last word: a page that
// shows something to a role may ask for nothing that the API then refuses.

/** refusedOn collects the calls that the API refuses to the person's role. */
function refusedOn(page: Page) {
  const refused: string[] = []
  page.on('response', (r) => {
    if (r.status() === 403) refused.push(`${r.request().method()} ${new URL(r.url()).pathname}`)
  })
  return refused
}

/** wordsOf reads the names of what can be pressed on a page. */
const wordsOf = (page: Page) => page.locator('main').locator('button, a[href], [role=button]').allInnerTexts()

// The buttons that write, by the call that each of them makes. Who may not make it does not see the button.
const writing: [page: RegExp, button: RegExp, call: Operation][] = [
  [/^\/customers$/, /^New customer$/, 'POST /subscribers'],
  [/^\/customers\//, /^Edit$/, 'PATCH /subscribers/{id}'],
  [/^\/customers\//, /^Take payment$/, 'POST /payments/initiate'],
  [/^\/invoices$/, /^New invoice$/, 'POST /invoices'],
  [/^\/invoices\//, /^Void$/, 'POST /invoices/{id}/void'],
  [/^\/invoices\//, /^Credit note$/, 'POST /invoices/{id}/credit-note'],
  [/^\/receipts\//, /^Take back$/, 'POST /receipts/{id}/reverse'],
  [/^\/receipts\//, /^Refund$/, 'POST /receipts/{id}/refund'],
  [/^\/receipts\//, /^Move to another customer$/, 'POST /receipts/{id}/reattribute'],
  [/^\/suspense/, /^Credit this customer$/, 'POST /receipts/{id}/attribute'],
  [/^\/plans$/, /^New plan$/, 'POST /plans'],
  [/^\/plans\//, /^Archive$/, 'POST /plans/{id}/archive'],
  [/^\/plans\//, /^Change$/, 'PATCH /plans/{id}'],
  [/^\/policies/, /^(New policy|Remove|Save)$/, 'PUT /settings/dunning'],
  [/^\/sessions\//, /^Disconnect$/, 'POST /sessions/{id}/disconnect'],
  [/^\/differences/, /^Look at all now$/, 'POST /access-audits'],
  [/^\/vouchers/, /^Make vouchers$/, 'POST /vouchers'],
  [/^\/vouchers/, /^Void/, 'POST /vouchers/{code}/void'],
  [/^\/api-keys/, /^(New API key|Replace the text|Revoke)$/, 'POST /api-keys'],
  [/^\/webhooks/, /^(Register an address|Send a trial|Pause|Enable)$/, 'POST /webhook-endpoints'],
  [/^\/message-texts/, /^Save$/, 'PUT /settings/messages'],
  [/^\/organization/, /^Save$/, 'PUT /settings/organization'],
]

for (const role of ['admin', 'support'] satisfies Role[]) {
  besideOthers(`${role} is shown no button and no page that the API then refuses`, async ({ page }) => {
    const refused = refusedOn(page)
    await signIn(page, 'admin')
    // Addresses of single things are asked for by somebody who sees all of them.
    const places: [Screen, string][] = []
    for (const s of screens.filter((s) => s.role === 'admin')) places.push([s, await pathOf(s, page)])
    await signIn(page, role)
    const faults: string[] = []
    for (const [screen, path] of places) {
      await goTo(page, role, path)
      const hidden = await page.getByRole('heading', { level: 1, name: 'Your role does not show this page' }).isVisible()
      if (hidden) {
        await page.getByRole('main').getByRole('link', { name: 'Go to Home' }).waitFor()
        expect(await page.locator('main h1').count(), path).toBe(1)
      }
      const words = await wordsOf(page)
      for (const [where, button, operation] of writing) {
        if (where.test(path) && !mayCall(role, operation) && words.some((w) => button.test(w.trim()))) {
          faults.push(`${screen.name} shows ${role} ${button}`)
        }
      }
    }
    expect(faults).toEqual([])
    expect(refused).toEqual([])
  })
}

besideOthers('the page of another role has a name, words and the way back, for everybody', async ({ page }) => {
  await signIn(page, 'support')
  await goTo(page, 'support', '/staff')
  await page.getByRole('heading', { level: 1, name: 'Your role does not show this page' }).waitFor()
  await expectNoViolations(page)
  const staff = await call(page, 'GET', '/users')
  expect(staff.status).toBe(403)
  await page.getByRole('main').getByRole('link', { name: 'Go to Home' }).click()
  await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Your role' }).waitFor()
})

besideOthers('every place of the menu opens a page for the role that sees it', async ({ page }) => {
  for (const role of ['support', 'admin', 'root'] satisfies Role[]) {
    await signIn(page, role)
    const menu = page.getByRole('navigation', { name: 'Menu' })
    for (const name of await menu.getByRole('link').allInnerTexts()) {
      await menu.getByRole('link', { name, exact: true }).click()
      await menu.locator('[aria-current=page]').filter({ hasText: name }).waitFor()
      await page.locator('main h1').filter({ hasText: /\w/ }).first().waitFor()
      expect(await page.getByText('Your role does not show this page').count(), `${role}: ${name}`).toBe(0)
    }
  }
})

