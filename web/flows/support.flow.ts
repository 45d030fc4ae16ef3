// Support requests, as staff and a customer write to each other.
import { expect } from 'vitest'
import { button, dialogOf, field, pick, told } from './hands'
import { at, call, codeTo, expectNoSideways, expectNoViolations, flow, goTo, phone, signIn, unpaid, visit } from './kit'

flow('a customer asks in the portal, staff notes and answers, and the customer reads the answer', async ({ page }) => {
  await signIn(page, 'admin')
  const customer = await unpaid(page, `Msaada${Date.now()}`)
  expect((await call(page, 'POST', `/subscribers/${customer.id}/portal-access`, {})).status).toBe(201)
  const subject = `Slow in the evening ${Date.now()}`
  const home = await visit(phone)
  try {
    await home.page.goto(`${at.isp}/portal/`)
    await field(home.page, 'E-mail address or phone').fill(`+${customer.phone}`)
    await button(home.page, 'Send me a code').click()
    await home.page.getByLabel('Code', { exact: true }).fill(await codeTo(home.page, `+${customer.phone}`))
    await button(home.page, 'Sign in').click()
    await home.page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Support' }).click()
    await home.page.getByText('You have asked nothing yet.').waitFor()
    await expectNoViolations(home.page, 'the list')
    await home.page.getByRole('link', { name: 'Ask for support' }).click()
    await field(home.page, 'What is it about?').fill(subject)
    await field(home.page, 'What happened?').fill('Since Monday.\nEverywhere in the house.')
    await expectNoViolations(home.page, 'a new request')
    await expectNoSideways(home.page, 'a new request')
    await button(home.page, 'Send').click()
    await home.page.getByText('We will answer').waitFor()

    const main = page.getByRole('main')
    await goTo(page, 'admin', '/support?state=open')
    await expectNoViolations(page, 'the list of staff')
    await main.getByRole('link', { name: subject }).click()
    await main.getByText('Everywhere in the house.').waitFor()
    await button(main, 'Take it').click()
    await told(page, 'Changed.')
    await main.getByLabel(/^Note for staff: /).check()
    await field(main, 'Note for staff').fill('The mast, once more.')
    await button(main, 'Keep the note').click()
    await told(page, 'Kept.')
    await main.getByRole('paragraph').filter({ hasText: 'The mast, once more.' }).waitFor() // not the field, which may have it still
    await field(main, 'Answer the customer').fill('We are on our way.')
    await button(main, 'Send the answer').click()
    await told(page, 'Sent. The customer is told.')
    await main.getByText('Answered', { exact: true }).waitFor()
    await expectNoViolations(page, 'a request of staff')

    await home.page.reload()
    await home.page.getByText('We are on our way.').waitFor()
    expect(await home.page.locator('body').innerText()).not.toContain('The mast')
    await expectNoViolations(home.page, 'a conversation')
    await expectNoSideways(home.page, 'a conversation')
    await button(home.page, 'It is solved').click()
    await home.page.getByText('Closed', { exact: true }).waitFor()
    await field(home.page, 'Write, and open it again').fill('Not yet.')
    await button(home.page, 'Send').click()
    await home.page.getByText('We will answer').waitFor()
  } finally {
    await home.context.close()
  }
  await goTo(page, 'admin', `/support?subscriberId=${customer.id}`)
  await page.getByRole('main').getByRole('link', { name: subject }).click()
  await button(page.getByRole('main'), 'Close').click()
  await button(dialogOf(page), 'Close the request').click()
  await told(page, 'The request is closed.')
})

flow('staff writes down what a customer says on the phone', async ({ page }) => {
  await signIn(page, 'support', '/support')
  await button(page.getByRole('main'), 'New request').first().click()
  const dialog = dialogOf(page)
  await pick(page, dialog.getByLabel('Customer', { exact: true }), 'acacia', /Acacia/i)
  await field(dialog, 'Subject').fill('Called about the invoice')
  await field(dialog, 'What it is about').fill('Asks why the amount is higher.')
  await expectNoViolations(page, 'the dialog')
  await button(dialog, 'New request').click()
  await page.getByRole('main').getByText('Asks why the amount is higher.').waitFor()
})
