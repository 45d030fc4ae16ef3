import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { button, isBack } from './hands'
import { call, expectNoSideways, expectNoViolations, flow, goTo, phone, type Row, signIn } from './kit'

/** makes a customer and gives the id. */
async function customer(page: Page, name: string): Promise<string> {
  const made = await call<Row>(page, 'POST', '/subscribers', {
    firstName: name, lastName: 'Hesabu', phone: `+2547${String(Date.now()).slice(-8)}`,
  })
  expect(made.status).toBe(201)
  return made.body.id
}

/** takes records cash and gives its receipt. */
async function takes(page: Page, subscriberId: string, amount: number): Promise<string> {
  const paid = await call<Row>(page, 'POST', '/payments/cash', { subscriberId, amount, reference: `Close ${amount} ${Date.now()}` })
  expect(paid.status).toBe(201)
  return String(paid.body.receiptId)
}

/** amountIn reads the amount of a text such as KES 1,250.50. */
const amountIn = (text: string) => Number(text.replace(/\u2212/g, '-').replace(/[^\d.-]/g, ''))

/** listed sums up the amounts of the rows that are listed. */
async function listed(page: Page): Promise<number> {
  const amounts = await page.locator('.behind tbody tr td:last-child').allInnerTexts()
  return amounts.reduce((sum, text) => sum + amountIn(text), 0)
}

flow('a clerk who closes a month opens a sum and sees the receipts that make it', async ({ page }) => {
  await signIn(page, 'admin')
  const [amina, brian] = [await customer(page, 'Amina'), await customer(page, 'Brian')]
  const wrong = await takes(page, amina, 2000.5)
  const moved = await takes(page, amina, 300)
  expect((await call(page, 'POST', `/receipts/${wrong}/reverse`, { reason: 'Not paid.' })).status).toBe(200)
  expect((await call(page, 'POST', `/receipts/${moved}/reattribute`, { subscriberId: brian, reason: 'His.' })).status).toBe(200)
  await goTo(page, 'admin', '/collections')
  const main = page.getByRole('main')
  await button(main, 'Close the list').waitFor({ state: 'detached' })

  // By keyboard: the figure opens the list, which has the focus and adds up to it.
  const figure = main.getByRole('link', { name: /^Taken back, Cash: KES/ })
  const sum = amountIn((await figure.getAttribute('aria-label')) ?? '')
  await figure.focus()
  await page.keyboard.press('Enter')
  const list = page.getByRole('group', { name: /^Taken back KES .*: Cash, / })
  await isBack(list)
  await list.getByText('Reversed').first().waitFor()
  await list.getByText('Moved away').first().waitFor()
  expect(await listed(page)).toBeCloseTo(-sum, 2)
  await expectNoViolations(page, 'the list behind a figure')

  // The address is that of the list; Back from a receipt and the button lead to where one was.
  await page.reload()
  await list.getByText('Reversed').first().waitFor()
  await list.getByRole('link', { name: /^Close 2000.5/ }).click()
  await page.getByRole('heading', { level: 1 }).filter({ hasText: 'Close 2000.5' }).waitFor()
  await page.goBack()
  await list.getByText('Reversed').first().waitFor()
  await button(list, 'Close the list').click()
  await list.waitFor({ state: 'detached' })

  const received = main.getByRole('link', { name: /^Received, Cash: KES/ })
  await received.click()
  const came = page.getByRole('group', { name: /^Received KES .*: Cash, / })
  await came.getByText('Moved here').first().waitFor()
  await button(came, 'Close the list').click()
  await isBack(received)
})

flow('the receipts behind a sum are seen on a phone, and in Swahili', async ({ page }) => {
  await page.addInitScript(() => localStorage.setItem('lastmile.language', 'sw'))
  await signIn(page, 'admin')
  const wrong = await takes(page, await customer(page, 'Amina'), 70)
  expect((await call(page, 'POST', `/receipts/${wrong}/reverse`, { reason: 'Not paid.' })).status).toBe(200)
  await goTo(page, 'admin', '/collections')
  const main = page.getByRole('main')
  await expectNoSideways(page, 'the sums on a phone')
  await main.getByRole('link', { name: /^Zilizorudishwa, Pesa taslimu: / }).click()
  const list = page.getByRole('group', { name: /^Zilizorudishwa .*: Pesa taslimu, / })
  await list.getByText('Imebatilishwa').first().waitFor()
  await isBack(list)
  expect(await list.evaluate((e) => e.getBoundingClientRect().top < innerHeight), 'the list is in sight').toBe(true)
  await expectNoSideways(page, 'the list on a phone')
  await expectNoViolations(page, 'the list on a phone')
}, phone)

flow('the payments behind a settlement are the same kind of list', async ({ page }) => {
  await signIn(page, 'root')
  // The demo's customers pay at the shared paybill on most days of its month.
  let found: { date: string; organizations: { orgId: string; name: string }[] } | undefined
  for (let ago = 1; ago < 20 && !found?.organizations.length; ago++) {
    const date = new Date(Date.now() - ago * 24 * 3600_000).toISOString().slice(0, 10)
    found = (await call<NonNullable<typeof found>>(page, 'GET', `/reports/settlement?date=${date}`)).body
  }
  await goTo(page, 'root', `/settlement?date=${found!.date}`)
  const main = page.getByRole('main')
  const count = main.locator(`a[href*="orgId"]`).first()
  await count.click()
  const list = page.getByRole('group', { name: /^Payments of / })
  await list.locator('tbody tr').first().waitFor()
  await isBack(list)
  await button(list, 'Close the list').click()
  await isBack(count)
})
