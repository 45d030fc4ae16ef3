import { expect } from 'vitest'
import { button, field, told } from './hands'
import { at, call, expectNoViolations, flow, goTo, type Row, signIn, simulate, unpaid } from './kit'

flow('a refused invoice is mended in the inbox, and is printed once the tax authority has signed it', async ({ page }) => {
  await signIn(page, 'admin')
  await call(page, 'PUT', '/settings/organization', { taxPin: 'P051234567A' })
  await goTo(page, 'admin', '/tax-gateway')
  await page.getByText('Off: documents go out without a signature.').waitFor()
  await expectNoViolations(page, 'the page of the tax gateway')
  await page.getByRole('switch', { name: 'Sign what is issued' }).click()
  await field(page, 'Address of the gateway').fill(at.tax)
  await field(page, 'Serial number of the device').fill('KRA1')
  await field(page, 'Branch').fill('00')
  await field(page, 'Secret of the device').fill('lastmile-demo-tax-secret')
  await button(page, 'Save').click()
  await page.getByText('On: documents are sent when they are signed.').waitFor()
  try {
    await simulate('PUT', `${at.tax}/sim/faults`, { refuseCode: 'buyer_pin_invalid' })
    const { id } = await unpaid(page, `Sahihi${Date.now()}`)
    const invoice = (await call<{ data: Row[] }>(page, 'GET', `/invoices?subscriberId=${id}`)).body.data[0]
    const number = String(invoice?.number)
    await goTo(page, 'admin', `/invoices/${String(invoice?.id)}`)
    await page.getByText('Refused', { exact: true }).waitFor()
    await page.getByText('It is printed and sent when the tax authority has signed it.').waitFor()
    expect(await page.getByRole('button', { name: `${number} as PDF` }).count()).toBe(0)

    await page.getByRole('link', { name: 'Refused and waiting documents' }).click()
    await page.getByRole('link', { name: number, exact: true }).waitFor()
    await expectNoViolations(page, 'the inbox of refused documents')
    await simulate('PUT', `${at.tax}/sim/faults`, {})
    await button(page, `Send ${number} again`).click()
    await field(page, 'Reason').fill('the PIN was mended')
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
    await told(page, new RegExp(`${number} waits for its signature again`))

    await goTo(page, 'admin', `/invoices/${String(invoice?.id)}`)
    await page.getByText('Signed', { exact: true }).waitFor()
    await page.getByText(/^Control number: KRA100-/).waitFor()
    await page.getByRole('link', { name: 'Look it up there' }).waitFor()
    expect(await page.getByRole('button', { name: number }).count()).toBe(1)
  } finally {
    await simulate('PUT', `${at.tax}/sim/faults`, {})
    await call(page, 'PUT', '/settings/tax-gateway', { on: false })
  }
})
