import { expect } from 'vitest'
import { button, confirms, dialogOf, field, told, writesOf } from './hands'
import { besideOthers, call, expectNoSideways, firstOf, goTo, phone, signIn, unpaid } from './kit'

besideOthers('money goes back to the payer: asked for, approved, paid and settled, and the proof of the receipt tells it', async ({ page }) => {
  await signIn(page, 'admin')
  const { id } = await unpaid(page, `Rejesho${Date.now()}`)
  const paid = await call(page, 'POST', '/payments/cash', { subscriberId: id, amount: 2000, reference: `Book 9/${Date.now()}` })
  expect(paid.status).toBe(201)
  const receipt = await firstOf(page, `/receipts?subscriberId=${id}`)
  await goTo(page, 'admin', `/receipts/${receipt.id}`)
  const writes = writesOf(page)
  const main = page.getByRole('main')

  // Only what pays no invoice can go back, and the dialog keeps what was typed when it is refused.
  await button(main, 'Refund').click()
  await dialogOf(page).getByRole('heading', { name: /Refund KES.500/ }).waitFor()
  await dialogOf(page).getByText(/^Only KES.500.* of it is credit that can be refunded/).waitFor()
  await field(dialogOf(page), /^Amount/).fill('900')
  await field(dialogOf(page), 'Reason').fill('Paid too much.')
  await button(dialogOf(page), 'Ask for the refund').click()
  await dialogOf(page).getByText(/^Only KES.500.* of the receipt is credit that can be refunded/).waitFor()
  await field(dialogOf(page), /^Amount/).fill('200')
  await confirms(page, 'Ask for the refund')
  await told(page, /^The refund waits to be approved/)
  expect(writes.filter((w) => w.endsWith('/refund'))).toHaveLength(2)
  await main.getByText('To be approved').waitFor()
  await main.getByText(/200.*Set aside for a refund/).waitFor()
  await main.getByText(/300.*Credit on the account/).waitFor()

  await button(main, 'Approve').click()
  await confirms(page, 'Approve')
  await main.getByText('To be paid').waitFor()
  await button(main, 'Settle').click()
  await field(dialogOf(page), /^Number of the payment/).fill('CHQ 12')
  await button(dialogOf(page), 'Settle').click()
  await dialogOf(page).waitFor({ state: 'hidden' })
  await main.getByText('Paid back').waitFor()
  await main.getByText(/reference CHQ 12/).waitFor()

  await main.getByRole('link', { name: 'The whole proof, message by message' }).click()
  for (const step of ['Seen for the first time', 'Paid an invoice', 'Set aside for a refund', 'The refund was paid', 'Went back to the payer']) {
    await main.getByText(step).first().waitFor()
  }
  await page.setViewportSize(phone.viewport)
  await expectNoSideways(page, 'the proof on a phone')
  await goTo(page, 'admin', `/refunds?subscriberId=${id}`)
  await main.getByRole('link', { name: String(receipt.receiptNumber) }).waitFor()
  await expectNoSideways(page, 'the list of refunds on a phone')
})
