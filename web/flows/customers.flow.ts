import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { button, dialogOf, field, pick, told } from './hands'
import { besideOthers, call, firstOf, goTo, phone, type Row, signIn, unpaid } from './kit'

/** cut lists the texts of what is found that are wider than their place. */
const cut = (page: Page, what: string) =>
  page.locator(what).evaluateAll((all) => all
    .filter((e) => {
      const cell = e.closest('td') ?? e
      const place = cell.getBoundingClientRect()
      const box = e.getBoundingClientRect()
      return box.width > 0 && (box.right > place.right + 1 || box.left < place.left - 1 || cell.scrollWidth > cell.clientWidth + 1)
    })
    .map((e) => e.textContent))

/** speaks takes one of the languages, as somebody has chosen it before. */
const speaks = (page: Page, language: 'en' | 'sw') =>
  page.addInitScript((l) => localStorage.setItem('lastmile.language', l), language)

besideOthers('what is saved and not shown yet is told as such, and leads to the customer when it can be read', async ({ page }) => {
  await signIn(page, 'admin', '/customers/new')
  const typed = { firstName: `Polepole${Date.now()}`, phone: `07${String(Date.now()).slice(-8)}` }
  const { id } = (await call<Row>(page, 'POST', '/subscribers', typed)).body
  let late = true
  await page.route(/\/subscribers$/, (route) => {
    return route.request().method() === 'POST' ? route.fulfill({ status: 202, json: { id, status: 'accepted' } }) : route.continue()
  })
  await page.route(/\/subscribers\/[0-9a-f-]{36}$/, (route) => {
    if (!late) return route.continue()
    return route.fulfill({ status: 404, json: { statusCode: 404, error: 'Not Found', message: 'none', code: 'subscriber_not_found' } })
  })
  await field(page, 'First name').fill(typed.firstName)
  await field(page, 'Phone').fill(typed.phone)
  await button(page, 'Register').click()
  await told(page, /^Saved, and not shown yet. Do not enter it again/)
  await page.locator('main').getByText(/^Saved, and not shown yet/).waitFor()
  expect(await page.getByRole('link', { name: 'Open the customer' }).count()).toBe(0)
  late = false
  await page.getByText(/^Registered under the account number \d/).waitFor()
  await page.getByRole('link', { name: 'Open the customer' }).click()
  await page.waitForURL(new RegExp(`/customers/${id}$`))
})

besideOthers('who has just been registered pays at once, and then gets the login that nobody has signed in with', async ({ page }) => {
  await signIn(page, 'admin', '/customers/new')
  await field(page, 'First name').fill('Mgeni')
  await field(page, 'Phone').fill(`07${String(Date.now()).slice(-8)}`)
  await pick(page, field(page, 'Plan'), '', /Home 10/)
  await button(page, 'Register').click()
  await page.getByRole('link', { name: 'Take payment' }).click()
  const dialog = dialogOf(page)
  await dialog.getByText('Cash', { exact: true }).click()
  await field(dialog, 'Reference').fill(`Book 9/${Date.now()}`)
  await button(dialog, 'Take the cash').click()
  await dialog.getByText(/^Paid/).waitFor()
  await page.keyboard.press('Escape')
  await page.getByText(/^Paid until .*, but the device has never signed in as \W?\d+\W?\.$/).waitFor()
  await button(page, 'Show the login').click()
  await dialog.getByText('Password', { exact: true }).waitFor()
})

besideOthers('whose first invoice was voided is asked for what the credit leaves of the price, by the answer and the dialog', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await unpaid(page, `Bila${Date.now()}`)
  const invoice = await firstOf(page, `/invoices?subscriberId=${id}`)
  expect((await call(page, 'POST', `/invoices/${invoice.id}/void`, { reason: 'A mistake.' })).status).toBe(200)
  await goTo(page, 'admin', `/customers/${id}`)
  await page.getByText(/^Never online yet: the price of KES.1,500 has to be paid in full first\.$/).waitFor()
  const dialog = dialogOf(page)
  await button(page.locator('.answer'), 'Take payment').click()
  await dialog.getByText(/^KES.1,500 is due now\.$/).waitFor()
  expect(await field(dialog, /^Amount/).inputValue()).toBe('1,500')
  const pays = async (amount?: string) => {
    await dialog.getByText('Cash', { exact: true }).click()
    if (amount) await field(dialog, /^Amount/).fill(amount)
    await field(dialog, 'Reference').fill(`Book 3/${Date.now()}`)
    await button(dialog, 'Take the cash').click()
    await dialog.getByText(/^Paid/).first().waitFor()
  }
  await pays('500')
  await dialog.getByText(/It starts when all is paid\.$/).waitFor()
  await button(dialog, 'Done').click()
  await page.getByText(/^Never online yet: KES.1,000 left of the price of KES.1,500 has to be paid in full first\.$/).waitFor()
  await button(page.locator('.answer'), 'Take payment').click()
  await dialog.getByText(/^KES.1,000 is due now\.$/).waitFor()
  await pays()
  await button(dialog, 'Done').click()
  await page.getByText(/^Paid until .*, but the device has never signed in/).waitFor()
})

besideOthers('whose payment was taken back reads which invoice is to be paid, and what is left of it', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await unpaid(page, `Rudisha${Date.now()}`)
  const cash = (amount: number) => call(page, 'POST', '/payments/cash', { subscriberId: id, amount, reference: `Book 4/${Date.now()}` })
  await cash(1500)
  await goTo(page, 'admin', `/customers/${id}`)
  await page.getByText(/^Paid until .*, but the device has never signed in/).waitFor()
  const receipt = await firstOf(page, `/receipts?subscriberId=${id}`)
  expect((await call(page, 'POST', `/receipts/${receipt.id}/reverse`, { reason: 'False money.' })).status).toBe(200)
  await page.getByText(/^Offline since .*: the payment for its period was taken back or moved away, and invoice .* of KES.1,500 is to be paid\.$/).waitFor()
  await page.getByText('It comes back within seconds after the payment; part of it is not enough.').waitFor()
  await cash(400)
  await page.getByText(/taken back or moved away, and KES.1,100 left of invoice .* of KES.1,500 is to be paid\.$/).waitFor()
})

besideOthers('of several services each line says which one it is about', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await unpaid(page, `Nyingi${Date.now()}`)
  const { body: plans } = await call<{ data: Row[] }>(page, 'GET', '/plans?limit=100&archived=false')
  // The oldest is the demo's: other flows make plans and archive them.
  const fits = plans.data.filter((p) => p.name !== 'Home 10 Mbps' && (p.billing as Row | undefined)?.mode === 'prepaid' && p.kind === 'pppoe')
  const other = fits.at(-1)
  expect((await call(page, 'POST', '/subscriptions', { subscriberId: id, planId: other?.id })).status).toBe(201)
  await goTo(page, 'admin', `/customers/${id}`)
  const answer = page.locator('.answer')
  await answer.getByText(/^Home 10 Mbps: Never online yet: invoice/).waitFor()
  await answer.getByText(`${String(other?.name)}: Never online yet: invoice`).waitFor()
})

besideOthers('a field that has to be filled in says so in the language of the page, below the head', async ({ page }) => {
  await speaks(page, 'sw')
  await signIn(page, 'admin', '/customers/new')
  await button(page, 'Sajili').click()
  const first = field(page, 'Jina la kwanza')
  await page.getByText('Lazima ijazwe.').first().waitFor()
  expect(await page.getByText('Lazima ijazwe.').count()).toBe(2)
  expect(await first.evaluate((e) => e === document.activeElement)).toBe(true)
  await first.fill('Amina')
  await expect.poll(() => page.getByText('Lazima ijazwe.').count()).toBe(1)
}, phone)

besideOthers('support reads out where a customer pays to', async ({ page }) => {
  await signIn(page, 'support')
  const customer = await firstOf(page, '/subscribers?q=ironwood')
  await goTo(page, 'support', `/customers/${customer.id}`)
  await page.getByText(new RegExp(`Paybill .*\\d{5,}.*, account .*${String(customer.accountNumber)}`)).waitFor()
})

besideOthers('accounts, phones and balances of customers are not cut on the screen of a laptop', async ({ page }) => {
  await page.setViewportSize({ width: 1366, height: 768 })
  await signIn(page, 'support', '/customers')
  await page.getByRole('row').nth(5).waitFor()
  expect(await cut(page, 'td .figure')).toEqual([])
})

besideOthers('a balance is not cut on a phone, and a statement has each amount and time', async ({ page }) => {
  await speaks(page, 'sw')
  await signIn(page, 'support', '/customers')
  await page.getByRole('row').nth(5).waitFor()
  expect(await cut(page, 'td .figure')).toEqual([])
  const { id } = await firstOf(page, '/subscribers?q=hibiscus')
  await goTo(page, 'support', `/customers/${id}?view=statement`)
  const amounts = page.locator('td .line-amount')
  await amounts.first().waitFor()
  for (const text of await amounts.allInnerTexts()) expect(text).toMatch(/\d\d:\d\d.* · (Deni|Malipo) (KES|Ksh)/)
  expect(await cut(page, 'td .figure')).toEqual([])
}, phone)
