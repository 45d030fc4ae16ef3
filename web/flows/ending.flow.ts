import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { button, confirms, dialogOf, field, inMenu, told } from './hands'
import { call, flow, goTo, type Row, signIn, unpaid } from './kit'

/** ends confirms the open dialog, in which the plan's name has to be typed. */
async function ends(page: Page, plan: string) {
  const dialog = dialogOf(page)
  await field(dialog, /^Type .* to confirm/).fill(plan)
  await confirms(page, 'End for good', 'Has moved.')
  await told(page, 'Ended.')
}

/** invoicesOf reads the invoices of a customer in a state, when there are so many. */
async function invoicesOf(page: Page, id: string, state: string, count: number) {
  const list = async () => (await call<{ data: Row[] }>(page, 'GET', `/invoices?subscriberId=${id}&state=${state}`)).body.data
  await expect.poll(async () => (await list()).length).toBe(count)
  return list()
}

const amount = (i: Row | undefined) => new RegExp(`Invoice ${String(i?.number)}: KES.${Number(i?.due).toLocaleString('en')}`)

flow('who ends a service reads what stays due, is voided or given back, and takes the payment of what is owed', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await unpaid(page, `Kuhama${Date.now()}`)
  const dialog = dialogOf(page)
  const code = `mwisho-${Date.now()}`
  const later = async (name: string, price: number, period: string) => {
    const plan = await call<Row>(page, 'POST', '/plans', {
      code: name, name, kind: 'pppoe', price, billing: { mode: 'postpaid', period }, rates: { down: 10_000, up: 5_000 },
    })
    expect(plan.status).toBe(201)
    const added = await call(page, 'POST', '/subscriptions', { subscriberId: id, planId: plan.body.id })
    expect(added.status).toBe(201)
  }
  const monthly = `mwezi-${Date.now()}`
  await later(code, 900, 'day') // a day that has begun is paid
  await later(monthly, 700, 'month') // of a month, the days from today on are not
  const all = await invoicesOf(page, id, 'issued', 3)
  const postpaid = all.find((i) => i.total === 900)
  const prepaid = all.find((i) => i.total !== 900 && i.total !== 700)
  await goTo(page, 'admin', `/customers/${id}`)

  await inMenu(page, button(page, 'What can be done with Home 10 Mbps'), 'End for good')
  const voids = dialog.getByRole('list', { name: 'Voided, for time or traffic that was not given yet:' })
  await voids.getByRole('listitem').filter({ hasText: amount(prepaid) }).waitFor()
  expect(await dialog.getByText('Stays due').count()).toBe(0)
  await ends(page, 'Home 10 Mbps')
  await invoicesOf(page, id, 'voided', 1)

  await inMenu(page, button(page, `What can be done with ${monthly}`), 'End for good')
  const given = dialog.getByRole('list', { name: 'Given back by a credit note, for the days from today on:' })
  await given.getByText(/KES.700 for \d+ days of \d+/).waitFor()
  expect(await dialog.getByText('Stays due').count()).toBe(0)
  await ends(page, monthly)
  await invoicesOf(page, id, 'credited', 1)

  await inMenu(page, button(page, `What can be done with ${code}`), 'End for good')
  const stays = dialog.getByRole('list', { name: 'Stays due:' })
  await stays.getByRole('listitem').filter({ hasText: amount(postpaid) }).waitFor()
  expect(await dialog.getByText('Voided').count()).toBe(0)
  await ends(page, code)

  const answer = page.locator('section.answer')
  await answer.getByText(new RegExp(`${code}.* was ended for good on .* KES.900 is still owed\\.`)).waitFor()
  await answer.getByText(/What is owed can be paid as before/).waitFor()
  await button(answer, 'Take payment').click()
  await dialog.getByText(/^KES.900 is due now/).waitFor()
  await dialog.getByText('Cash', { exact: true }).click()
  await field(dialog, 'Reference').fill(`Book/${Date.now()}`)
  await button(dialog, 'Take the cash').click()
  await dialog.getByText(/^Paid/).waitFor()
  await button(dialog, 'Done').click()
  await button(answer, 'Add a service').waitFor()
  expect(await answer.getByText('is still owed').count()).toBe(0)
  await invoicesOf(page, id, 'paid', 1)
})

flow('a used month whose payment was taken back stays due beside one that never began', async ({ page }) => {
  await signIn(page, 'admin')
  const { id, due } = await unpaid(page, `Kurudisha${Date.now()}`)
  const dialog = dialogOf(page)
  for (const n of [1, 2]) {
    const paid = await call(page, 'POST', '/payments/cash', { subscriberId: id, amount: due, reference: `Book ${n}/${Date.now()}` })
    expect(paid.status).toBe(201)
    await invoicesOf(page, id, 'paid', n)
  }
  const { body: receipts } = await call<{ data: Row[] }>(page, 'GET', `/receipts?subscriberId=${id}`)
  for (const { id: receipt } of receipts.data) {
    const back = await call(page, 'POST', `/receipts/${receipt}/reverse`, { reason: 'The note was false.' })
    expect(back.status).toBe(200)
  }
  const open = await invoicesOf(page, id, 'issued', 2)
  open.sort((a, b) => String(a.periodFrom ?? a.issuedAt).localeCompare(String(b.periodFrom ?? b.issuedAt)))
  await goTo(page, 'admin', `/customers/${id}`)
  // Until the money was taken back there was access.
  await page.locator('section.answer').getByText(/^Offline since .*: the payment for its period was taken back or moved away/).waitFor()
  await inMenu(page, button(page, 'What can be done with Home 10 Mbps'), 'End for good')
  await dialog.getByRole('list', { name: /^Stays due/ }).getByRole('listitem').filter({ hasText: amount(open[0]) }).waitFor()
  await dialog.getByRole('list', { name: /^Voided/ }).getByRole('listitem').filter({ hasText: amount(open[1]) }).waitFor()
  await ends(page, 'Home 10 Mbps')
  await page.locator('section.answer').getByText(/is still owed/).waitFor()
  // A prompt to the phone is taken of who has ended, too.
  await button(page.locator('section.answer'), 'Take payment').click()
  await button(dialog, 'Send the prompt').click()
  await dialog.getByText(/^Paid/).waitFor()
  await dialog.getByText('Access stays as it was: money does not decide it. See the answer on the page.').waitFor()
  await button(dialog, 'Done').click()
  await button(page.locator('section.answer'), 'Add a service').waitFor()
})

flow('who may not unblock reads whom to ask', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await unpaid(page, `Zuio${Date.now()}`)
  expect((await call(page, 'POST', `/subscribers/${id}/block`, { reason: 'Bridged the line.' })).status).toBe(200)
  const answer = page.locator('section.answer')
  await goTo(page, 'admin', `/customers/${id}`)
  await answer.getByText(/Unblock when what led to it is settled; no payment helps\./).waitFor()
  await button(answer, 'Unblock').waitFor()
  await signIn(page, 'support', `/customers/${id}`)
  await answer.getByText(/No payment helps. Ask an administrator, who has the button “Unblock” on this page/).waitFor()
  expect(await button(answer, /Unblock|Take payment/).count()).toBe(0)
})

flow('who goes on after a pause is not said to have paid', async ({ page }) => {
  await signIn(page, 'admin')
  const { id, due } = await unpaid(page, `Rudi${Date.now()}`)
  expect((await call(page, 'POST', '/payments/cash', { subscriberId: id, amount: due, reference: `Book/${Date.now()}` })).status).toBe(201)
  await invoicesOf(page, id, 'paid', 1)
  // A device is let in within seconds: the answer is held at the moment before.
  const beside = await page.context().newPage()
  await goTo(beside, 'admin', '/plans')
  await page.route('**/access', async (route) => {
    const { body } = await call<{ services: { observed: string }[] }>(beside, 'GET', `/subscribers/${id}/access`)
    for (const s of body.services) s.observed = 'walled_garden'
    await route.fulfill({ json: body })
  })
  await goTo(page, 'admin', `/customers/${id}`)
  const answer = page.locator('section.answer')
  await answer.getByText(/^Paid just now: full access comes back within seconds\.$/).waitFor()
  const { body: services } = await call<{ data: Row[] }>(page, 'GET', `/subscriptions?subscriberId=${id}`)
  for (const act of ['pause', 'resume']) {
    const done = await call(page, 'POST', `/subscriptions/${String(services.data[0]?.id)}/${act}`, { reason: 'Travelled.' })
    expect(done.status).toBe(200)
  }
  await answer.getByText(/^Resumed just now: full access comes back within seconds\.$/).waitFor()
  await page.unrouteAll({ behavior: 'ignoreErrors' })
})
