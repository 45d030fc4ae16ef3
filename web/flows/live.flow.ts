import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { at, call, drawn, flow, password, people, phone, type Row, signIn, simulate, unpaid } from './kit'

/** amount reads the money of today from the home page. */
async function takenToday(page: Page): Promise<number> {
  const figure = page.getByRole('link', { name: /^KES/ }).and(page.locator('a[href*="/collections"]')).first()
  return Number((await figure.innerText()).replace(/[^\d.]/g, ''))
}

flow('a customer pays, and the home page shows it without a reload', async ({ page, context }) => {
  await signIn(page, 'admin')
  const other = await context.newPage()
  await other.goto(`${at.isp}/app/customers`)
  const customer = await unpaid(other, 'Mlipaji', 'pay')
  const before = await takenToday(page)
  await page.getByRole('status', { name: 'Live' }).waitFor()
  let loads = 0
  page.on('load', () => loads++)
  const sent = await call(other, 'POST', '/payments/initiate', { subscriberId: customer.id, amount: customer.due })
  expect(sent.status).toBe(202)
  await expect.poll(() => takenToday(page)).toBe(before + customer.due)
  expect(loads).toBe(0)
})

flow('a double click takes the money once', async ({ page }) => {
  await signIn(page, 'admin', '/customers')
  const customer = await unpaid(page, 'Mara Moja', 'pay')
  const writes: string[] = []
  page.on('request', (r) => r.method() === 'POST' && r.url().includes('/payments/') && writes.push(r.url()))
  await page.goto(`${at.isp}/app/customers/${customer.id}`)
  await page.getByRole('heading', { level: 1, name: /Mara Moja/ }).waitFor()
  await page.keyboard.press('p')
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Send the prompt' }).dblclick()
  await dialog.getByText(/^Paid/).first().waitFor()
  expect(writes.filter((url) => url.endsWith('/payments/initiate'))).toHaveLength(1)
  const { body } = await call<{ data: Row[] }>(page, 'GET', `/payments?subscriberId=${customer.id}`)
  expect(body.data).toHaveLength(1)
})

/** Hand is how somebody works a page: with the mouse alone, or with the keyboard alone. */
interface Hand {
  /** press sets a button, a link or a line of a menu to work. */
  press: (page: Page, what: Locator) => Promise<void>
  /** type writes into a field. */
  type: (page: Page, field: Locator, text: string) => Promise<void>
}

const mouse: Hand = {
  press: (_page, what) => what.click(),
  // Who has no keys at hand pastes; nothing but the field is touched.
  type: (_page, field, text) => field.fill(text),
}

// More than any page of the walk has.
const mostStops = 150

/** tabTo goes from stop to stop until it is at what was looked for. */
async function tabTo(page: Page, what: Locator) {
  await what.waitFor()
  for (let stop = 0; stop < mostStops; stop++) {
    if (await what.evaluate((e) => e === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`The keyboard does not reach ${what}`)
}

const keyboard: Hand = {
  press: async (page, what) => {
    await tabTo(page, what)
    await page.keyboard.press('Enter')
  },
  type: async (page, field, text) => {
    await tabTo(page, field)
    await page.keyboard.press('Control+A')
    await page.keyboard.type(text)
  },
}

for (const [how, hand, window] of [
  ['with the mouse alone', mouse, {}],
  ['with the keyboard alone', keyboard, {}],
  ['on a phone', mouse, phone],
] as const) {
  flow(`the first walk goes ${how}`, ({ page }) => walk(page, hand), window)
}

/**
 * walk does what README's first walk does: signs in, finds the customer who never paid, has the phone asked, sees the
 * money and the paid time, finds the router that somebody has changed, repairs it, looks who is online there, and
 * reads in the audit log who did that.
 */
async function walk(page: Page, hand: Hand) {
  await page.goto(`${at.isp}/app/`)
  await hand.type(page, page.getByLabel('E-mail address'), people.admin.email)
  await hand.type(page, page.getByLabel('Password', { exact: true }), password)
  await hand.press(page, page.getByRole('button', { name: 'Sign in' }))
  await page.getByRole('button', { name: 'Your account' }).waitFor()
  await drawn(page)
  const name = `Mwanzo${Date.now()}`
  await unpaid(page, name, 'pay')
  await paysByPhone(page, hand, name)
  await isRepaired(page, hand)
  await wasWritten(page, hand)
}

/** opens leads to a place of the menu, which a phone keeps behind a button. */
async function opens(page: Page, hand: Hand, place: string) {
  const link = page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: place, exact: true })
  const folded = page.getByRole('button', { name: 'Menu' })
  if (await folded.isVisible()) await hand.press(page, folded)
  await hand.press(page, link)
  await page.getByRole('heading', { level: 1, name: place }).waitFor()
  await drawn(page)
}

/** view is a part of the page. */
const view = (page: Page, name: string) => page.getByRole('main').getByRole('link', { name, exact: true })

async function paysByPhone(page: Page, hand: Hand, name: string) {
  await hand.press(page, page.locator('.search-box'))
  await hand.type(page, page.getByRole('combobox', { name: 'Search' }), name)
  const found = page.getByRole('option', { name: new RegExp(name) })
  await found.waitFor()
  // The keyboard stays in the field, and Enter opens the first.
  await (hand === keyboard ? page.keyboard.press('Enter') : found.click())
  await page.getByRole('heading', { level: 1, name: new RegExp(name) }).waitFor()
  await page.getByText(/Never online yet/).waitFor()
  await hand.press(page, page.getByRole('button', { name: 'Take payment' }).first())
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/is due now/).waitFor()
  await hand.press(page, dialog.getByRole('button', { name: 'Send the prompt' }))
  await dialog.getByText(/^Paid/).waitFor()
  await hand.press(page, dialog.getByRole('button', { name: 'Done' }))
  await dialog.waitFor({ state: 'hidden' })
  await page.getByText(/^Paid until/).first().waitFor()
  await hand.press(page, view(page, 'Statement'))
  const paid = page.getByRole('row').filter({ hasText: 'by phone prompt' })
  await paid.waitFor()
  await expect.poll(() => paid.innerText()).toMatch(/KES\s0$/) // nothing is owed any more
}

/** isRepaired repairs a router that somebody has changed with his own program. */
async function isRepaired(page: Page, hand: Hand) {
  await changedByHand('tower-north')
  await opens(page, hand, 'Routers')
  await hand.press(page, page.getByRole('link', { name: 'tower-north' }))
  await page.getByRole('heading', { level: 1, name: 'tower-north' }).waitFor()
  await hand.press(page, view(page, 'Differences'))
  await page.getByText(somewhereElse).waitFor()
  await hand.press(page, page.getByRole('button', { name: 'Repair' }))
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Writes to the router now: 1 put back.').waitFor()
  await hand.press(page, dialog.getByRole('button', { name: 'Repair' }))
  await page.getByText('Repaired with 1 write.').waitFor()
  await page.getByText(somewhereElse).waitFor({ state: 'detached' })
  await hand.press(page, view(page, 'Sessions'))
  await page.getByRole('row').nth(1).waitFor()
}

// Where the pool of the changed router points to.
const somewhereElse = '10.50.200.10-10.50.200.20'

/** changedByHand changes a pool of a simulated router, as somebody does with Winbox. */
async function changedByHand(router: string) {
  const simulated = `${at.routers}/sim/routers/${router}`
  const pools = ((await (await fetch(`${simulated}/config`)).json()) as Record<string, Record<string, string>[]>)['ip/pool'] ?? []
  const pool = pools.find((p) => p.name?.startsWith('pool-svc-'))
  await simulate('POST', `${simulated}/edit`, { menu: 'ip/pool', command: 'set', args: { '.id': pool?.['.id'], ranges: somewhereElse } })
}

async function wasWritten(page: Page, hand: Hand) {
  await opens(page, hand, 'Audit log')
  await page.getByRole('row').filter({ hasText: 'Wrote to a router' }).first().waitFor()
}
