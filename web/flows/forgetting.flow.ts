// What a person may ask for: a copy of what is kept, and to be forgotten.
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { button, confirms, dialogOf, field, inMenu, told } from './hands'
import { call, drawn, expectNoSideways, expectNoViolations, firstOf, flow, goTo, phone, type Row, signIn, unpaid } from './kit'

const begins = (page: Page, line: string) => inMenu(page, button(page, /^(More|Zaidi)$/), line)
const forgets = (page: Page) => button(dialogOf(page), 'Forget for good')

/** opened opens the dialog of a customer's page, when it knows what stands in the way. */
async function opened(page: Page, id: string) {
  await goTo(page, 'admin', `/customers/${id}`)
  await begins(page, 'Forget this person')
  await dialogOf(page).getByText('Nobody can take this back.').waitFor()
}

flow('a person is given all that is kept, is refused to be forgotten while money is open, and is then forgotten', async ({ page }) => {
  await signIn(page, 'admin')
  const name = `Sahau${Date.now()}`
  const customer = await unpaid(page, name)
  await goTo(page, 'admin', `/customers/${customer.id}`)
  await begins(page, 'Export personal data')
  await dialogOf(page).getByText('Each download is written into the audit log.').waitFor()
  await expectNoViolations(page, 'the dialog of the export')
  const [file] = await Promise.all([page.waitForEvent('download'), button(dialogOf(page), 'Download').click()])
  expect(file.suggestedFilename()).toMatch(/-personal-data\.json$/)
  const kept = JSON.parse(await readFile(await file.path(), 'utf8')) as { subscriberId: string }
  expect(kept.subscriberId).toBe(customer.id)
  expect(JSON.stringify(kept)).toContain(name)
  await dialogOf(page).waitFor({ state: 'hidden' })

  await opened(page, customer.id)
  await dialogOf(page).getByText('The customer owes money').waitFor()
  await dialogOf(page).getByText('A service has not ended').waitFor()
  await field(dialogOf(page), 'Reason').fill('asked for it in a letter')
  await field(dialogOf(page), /^Type /).fill(String(customer.accountNumber))
  expect(await forgets(page).isDisabled()).toBe(true)
  await expectNoViolations(page, 'what stands in the way')
  await dialogOf(page).getByRole('link', { name: 'To the invoices' }).click()
  await page.waitForURL(`**/app/invoices?subscriberId=${customer.id}`)
  await drawn(page)

  const service = await firstOf(page, `/subscriptions?subscriberId=${customer.id}`)
  expect((await call(page, 'POST', `/subscriptions/${service.id}/end`, { reason: 'moves away' })).status).toBe(200)
  await expect.poll(async () => (await call<{ open: string[] }>(page, 'GET', `/subscribers/${customer.id}/forget`)).body.open).toEqual([])
  await opened(page, customer.id)
  await field(dialogOf(page), 'Reason').fill(`${name} asked for it`)
  await field(dialogOf(page), /^Type /).fill('10000000')
  expect(await forgets(page).isDisabled()).toBe(true)
  await field(dialogOf(page), /^Type /).fill(String(customer.accountNumber))
  await forgets(page).click()
  await dialogOf(page).getByText(/^Reason must not name the person/).waitFor()
  await expectNoViolations(page, 'a reason that names the person')
  await confirms(page, 'Forget for good', 'asked for it in a letter')
  await told(page, 'The person is forgotten.')

  await page.getByRole('heading', { level: 1, name: 'Forgotten person' }).waitFor()
  await page.getByText(/^This person was forgotten/).waitFor()
  expect(await button(page, /^(More|Add a service|Edit|Take payment)$/).count()).toBe(0)
  await page.keyboard.press('p')
  expect(await dialogOf(page).count()).toBe(0)
  await page.getByText('The customer’s personal details were erased.').first().waitFor()
  await expectNoViolations(page, 'a forgotten person')
  expect(await page.locator('body').innerText()).not.toContain(name)
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(name)
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'Forgotten person' }).waitFor()
  await goTo(page, 'admin', `/customers?q=${name}`)
  await page.getByText('No row fits these filters.').waitFor()
  await goTo(page, 'admin', '/customers?status=forgotten')
  await page.getByRole('link', { name: 'Forgotten person' }).first().waitFor()
  await expectNoViolations(page, 'the list of the forgotten')
  const found = await call<Row>(page, 'GET', `/search?q=${name}`)
  expect(JSON.stringify(found.body)).not.toContain(name)
  await page.keyboard.press('Control+k')
  await page.getByRole('dialog').waitFor()
  expect(await page.getByRole('dialog').innerText()).not.toContain(name)
})

flow('what stands in the way is told in Swahili on a phone, and support is not offered it', async ({ page, context }) => {
  await signIn(page, 'admin')
  const customer = await unpaid(page, 'Subiri')
  await page.evaluate(() => localStorage.setItem('lastmile.language', 'sw'))
  await goTo(page, 'admin', `/customers/${customer.id}`)
  await begins(page, 'Sahau mtu huyu')
  await dialogOf(page).getByText('Mteja anadaiwa').waitFor()
  await dialogOf(page).getByRole('link', { name: 'Kwenye huduma' }).waitFor()
  await expectNoViolations(page, 'in Swahili')
  await expectNoSideways(page, 'in Swahili')
  await page.evaluate(() => localStorage.setItem('lastmile.language', 'en'))
  await context.clearCookies()
  await signIn(page, 'support', `/customers/${customer.id}`)
  expect(await button(page, 'More').count()).toBe(0)
}, phone)
