import { expect } from 'vitest'
import { button, confirms, dialogOf, field } from './hands'
import { call, expectNoSideways, expectNoViolations, firstOf, flow, goTo, phone, type Row, signIn, unpaid } from './kit'

flow('an import is taken back after a preview, and the list of batches says so', async ({ page }) => {
  await signIn(page, 'admin')
  const plan = await firstOf(page, '/plans')
  const table = ['firstName,phone,planCode', `Undone,0711009101,${String(plan.code)}`, `Undone,0711009102,${String(plan.code)}`].join('\n')
  await goTo(page, 'admin', '/imports')
  await page.locator('input[type=file]').setInputFiles({ name: 'wrong.csv', mimeType: 'text/csv', buffer: Buffer.from(table) })
  await page.getByRole('button', { name: 'Check the file' }).click()
  await page.getByRole('button', { name: 'Import 2 customers' }).click()
  await page.getByText('Finished: 2 customers were made').waitFor()

  await page.getByRole('button', { name: 'Undo this import' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Taken back').waitFor()
  await expectNoViolations(page)
  await dialog.getByLabel('Reason').fill('the wrong file')
  await dialog.getByRole('button', { name: 'Undo', exact: true }).click()
  await page.getByText('It was taken back').waitFor()
  await page.getByText('the wrong file').waitFor()
  await expectNoViolations(page)
  await page.setViewportSize(phone.viewport)
  await expectNoSideways(page)
  await page.setViewportSize({ width: 1366, height: 768 })

  const batch = await firstOf(page, '/batches?kind=import')
  expect(batch).toMatchObject({ made: 2, undo: { state: 'finished', undone: 2, blocked: 0, reason: 'the wrong file' } })
  await goTo(page, 'admin', '/batches')
  await page.getByRole('cell', { name: 'It was taken back' }).first().waitFor()
  await expectNoViolations(page)
})

flow('the customers of a plan get its newest version, and keep the old one when the move is taken back', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await unpaid(page, `Hama${Date.now()}`)
  const code = `hama-${Date.now()}`
  const plan = await call<Row>(page, 'POST', '/plans', {
    code, name: code, kind: 'pppoe', price: 900, billing: { mode: 'postpaid', period: 'month' }, rates: { down: 10_000, up: 5_000 },
  })
  const line = await call<Row>(page, 'POST', '/subscriptions', { subscriberId: id, planId: plan.body.id })
  expect(line.status).toBe(201)
  expect((await call(page, 'PATCH', `/plans/${String(plan.body.id)}`, { price: 1100 })).status).toBe(200)
  const planned = async () => (await call<Row>(page, 'GET', `/subscriptions/${String(line.body.id)}`)).body.plannedPlan as { price: number } | null

  await goTo(page, 'admin', `/plans/${String(plan.body.id)}`)
  await button(page, 'Move customers').click()
  await dialogOf(page).getByText('1 customer').waitFor()
  await expectNoViolations(page)
  await confirms(page, 'Move customers', 'prices of the new year')
  await page.getByRole('button', { name: 'Undo this move' }).waitFor() // its own page, once it is finished
  expect(await planned()).toMatchObject({ price: 1100 })

  await button(page, 'Undo this move').click()
  await dialogOf(page).getByText('Taken back').waitFor()
  await field(dialogOf(page), 'Reason').fill('too early')
  await button(dialogOf(page), 'Undo').click()
  await page.getByText('It was taken back').waitFor()
  expect(await planned()).toBeNull()
})
