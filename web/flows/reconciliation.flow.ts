import { expect } from 'vitest'
import { button, confirms, dialogOf, field, told } from './hands'
import { at, call, expectNoSideways, expectNoViolations, firstOf, flow, goTo, phone, type Row, signIn, simulate, unpaid } from './kit'

const desk = { width: 1366, height: 768 }

/** numberOf makes a receipt number that nobody has. */
const numberOf = () => `SJ${Date.now().toString(36).toUpperCase().slice(-6)}${Math.floor(Math.random() * 90 + 10)}`

/** quiet is a second of the days before in which no other flow has paid: what was paid in it is compared, too. */
const quiet = () => Date.now() - 86_400_000 * (1 + Math.random())

/** stated is an instant as the provider's statements write it. */
const stated = (ms: number) => new Date(ms + 3 * 3600_000).toISOString().slice(0, 19).replace('T', ' ')

flow('a statement shows a payment that is missing here; it is taken in once, and the customer has it', async ({ page }) => {
  await signIn(page, 'admin')
  const customer = await unpaid(page, `Linganisha${Date.now()}`)
  const number = numberOf()
  const table = [
    'Short Code:,600100', '',
    'Receipt No.,Completion Time,Details,Paid In,Withdrawn,Other Party Info,A/C No.',
    `${number},${stated(quiet())},Pay Bill,"${customer.due.toFixed(2)}",,${customer.phone} - LINGANISHA NYUMBA,${String(customer.accountNumber)}`,
  ].join('\n')
  const upload = async (text: string) => {
    await page.locator('input[type=file]').setInputFiles({ name: 'statement.csv', mimeType: 'text/csv', buffer: Buffer.from(text) })
    await button(page, 'Compare').click()
  }
  const main = page.getByRole('main')

  await signIn(page, 'root', '/reconciliations')
  await upload('Name,Phone\nAmina,1\n')
  await main.getByRole('alert').first().waitFor()
  await upload(table)
  await main.getByRole('cell', { name: number }).waitFor()
  await main.getByText('Differs').waitFor()
  await expectNoViolations(page)
  await page.setViewportSize(phone.viewport)
  await expectNoSideways(page, 'a compared statement on a phone')
  await page.setViewportSize(desk)
  await button(main, 'Take in what is missing here').click()
  await confirms(page, 'Take in what is missing here')
  await main.getByText('Nothing differs').waitFor()

  // The same statement again: everything is here.
  await goTo(page, 'root', '/reconciliations')
  await upload(table)
  await main.getByText('Nothing differs').waitFor()
  await goTo(page, 'root', '/reconciliations')
  await expectNoViolations(page)

  // One number is here already, of another one the provider is asked.
  await field(main, 'Receipt number').fill(number.toLowerCase())
  await button(main, 'Ask the provider').click()
  await main.getByText(/^(This payment is here already|The provider was asked)/).waitFor()

  await signIn(page, 'admin')
  const seen = `/receipts?subscriberId=${customer.id}`
  await expect.poll(async () => (await call<{ data: Row[] }>(page, 'GET', seen)).body.data.map((r) => [r.receiptNumber, r.state]))
    .toEqual([[number, 'allocated']])
})

flow('money with a slip in its account number is offered to the right organization and customer, with the reasons', async ({ page }) => {
  await signIn(page, 'admin')
  const customer = await unpaid(page, `Dokezo${Date.now()}`)
  const account = String(customer.accountNumber)
  const slip = `${account.slice(0, 7)}${(Number(account[7]) + 1) % 10}`
  const msisdn = `2547${String(Date.now() + 77).slice(-8)}`
  const amount = customer.due
  await simulate('POST', `${at.provider}/sim/paybill`, { shortCode: '600100', msisdn, amount, billRefNumber: slip })
  await signIn(page, 'root')
  const waiting = async () => (await call<{ data: Row[] }>(page, 'GET', '/receipts?state=suspense')).body.data.find((r) => r.billRef === slip)
  await expect.poll(waiting).toBeTruthy()
  const receipt = await waiting()
  const main = page.getByRole('main')
  await goTo(page, 'root', `/suspense?receipt=${receipt?.id}`)
  await main.getByText(/one slip away from, this account number/).waitFor()
  await expectNoViolations(page)
  await button(main, /^Give to /).first().click()
  await dialogOf(page).getByRole('button').last().click()
  await dialogOf(page).waitFor({ state: 'hidden' })

  await signIn(page, 'admin', `/suspense?receipt=${receipt?.id}`)
  await main.getByText(/one slip away from, this account number.*owes exactly this amount/).waitFor()
  await button(main, new RegExp(`^Credit .*${String(customer.firstName)}`)).click()
  await told(page, new RegExp(String(customer.firstName)))
  const got = await firstOf(page, `/receipts?subscriberId=${customer.id}`)
  expect(got.id).toBe(receipt?.id)
})
