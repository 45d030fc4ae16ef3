import { expect } from 'vitest'
import { button, dialogOf, field, inMenu, pick, told } from './hands'
import { call, flow, goTo, type Row, signIn, unpaid } from './kit'

flow('who changes a plan reads what it costs, and what was changed meanwhile is told before it is done', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await unpaid(page, `Badili${Date.now()}`)
  const plan = async (price: number) => {
    const name = `mpango-${price}-${Date.now()}`
    const made = await call<Row>(page, 'POST', '/plans', {
      code: name, name, kind: 'pppoe', price, billing: { mode: 'prepaid', period: 'month' }, rates: { down: 10_000, up: 5_000 },
    })
    expect(made.status).toBe(201)
    return { id: String(made.body.id), name }
  }
  const [small, large] = [await plan(1400), await plan(9900)]
  const dialog = dialogOf(page)
  const services = async () => (await call<{ data: Row[] }>(page, 'GET', `/subscriptions?subscriberId=${id}`)).body.data
  await goTo(page, 'admin', `/customers/${id}`)

  // Nothing is paid: the invoice that waits is replaced.
  await inMenu(page, button(page, 'What can be done with Home 10 Mbps'), 'Change the plan')
  await pick(page, field(dialog, 'New plan'), small.name, new RegExp(small.name))
  await dialog.getByText('The unpaid invoice is replaced by one of the new plan.').waitFor()
  await button(dialog, 'Change the plan').click()
  await told(page, 'The plan is changed.')
  const [service] = await services()
  expect(service?.planName).toBe(small.name)
  await expect.poll(async () => (await call<{ data: Row[] }>(page, 'GET', `/invoices?subscriberId=${id}&state=issued`)).body.data.map((i) => i.total)).toEqual([1400])

  // It is paid: what is dearer costs the difference at once.
  expect((await call(page, 'POST', '/payments/cash', { subscriberId: id, amount: 1400, reference: `B${Date.now()}` })).status).toBeLessThan(300)
  await expect.poll(async () => (await services())[0]?.state).toBe('active')
  await inMenu(page, button(page, `What can be done with ${small.name}`), 'Change the plan')
  await pick(page, field(dialog, 'New plan'), large.name, new RegExp(large.name))
  const change = button(dialog, /^Change, and invoice KES.8,500/)
  await change.waitFor()
  // Somebody else changes it at the same moment: nothing is done that was not read.
  const asked = await call<Row>(page, 'POST', `/subscriptions/${String(service?.id)}/change-plan/preview`, { planId: large.id })
  expect((await call(page, 'POST', `/subscriptions/${String(service?.id)}/change-plan`, { previewToken: asked.body.previewToken })).status).toBe(200)
  await change.click()
  await dialog.getByText('This preview is no longer true').waitFor()
  await button(dialog, 'Cancel').click()

  // Back to the small one: with the next month, and dropped again.
  await page.reload()
  await inMenu(page, button(page, `What can be done with ${large.name}`), 'Change the plan')
  await pick(page, field(dialog, 'New plan'), small.name, new RegExp(small.name))
  await button(dialog, /^Change from/).click()
  await told(page, 'The change is planned.')
  await page.getByText('Next plan').waitFor()
  await inMenu(page, button(page, `What can be done with ${large.name}`), 'Change the plan')
  await pick(page, field(dialog, 'New plan'), large.name, new RegExp(large.name))
  await dialog.getByText('The change that was planned is dropped.').waitFor()
  await button(dialog, 'Change the plan').click()
  await expect.poll(async () => (await services())[0]?.plannedPlan).toBeNull()
})
