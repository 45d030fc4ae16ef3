import { expect } from 'vitest'
import { button, dialogOf, faultBeside, field, told } from './hands'
import { call, expectNoSideways, expectNoViolations, flow, goTo, phone, type Row, signIn } from './kit'

interface Texts {
  templates: Record<string, { sms: string; email: { subject: string; text: string } }>
  translations: Record<string, Texts['templates']>
  quietHours: { from: string; to: string } | null
}

flow('a message gets a text of the organization in Swahili, is not sent in English, and gets ours again', async ({ page }) => {
  await signIn(page, 'admin', '/message-texts')
  await expectNoViolations(page, 'the list of texts')
  await page.getByRole('link', { name: 'Invoice', exact: true }).click()
  await page.getByText('15 minutes after an invoice was issued').waitFor()
  await expectNoViolations(page, 'the texts of a message')
  const [english, swahili] = [page.locator('section').filter({ hasText: 'In English' }), page.locator('section').filter({ hasText: 'In Swahili' })]
  const sms = field(swahili, 'SMS')
  await sms.fill('Deni la {amont}')
  await faultBeside(sms, /\{amont\} is not a word of this message\./)
  await button(page, 'Save').click()
  await sms.fill('Deni la ')
  await swahili.getByRole('button', { name: '{amount}: amount, with currency' }).click()
  expect(await sms.inputValue()).toBe('Deni la {amount}')
  const example = swahili.getByRole('group', { name: 'SMS, as an example' })
  await example.getByText('Deni la KES 1500.00', { exact: true }).waitFor()
  await example.getByText(/1 SMS/).waitFor()
  await sms.fill(`Deni la {amount} ${'a'.repeat(160)}`)
  await example.getByText(/2 SMS/).waitFor()
  await sms.fill('Deni la {amount}')
  for (const name of ['SMS', 'Subject of the e-mail', 'E-mail']) await field(english, name).fill('')
  await english.getByText('Both are empty: this message is not sent in this language.').waitFor()
  await button(page, 'Save').click()
  await told(page, 'Invoice: saved SMS in English, E-mail in English, SMS in Kiswahili.')

  const saved = (await call<Texts>(page, 'GET', '/settings/messages')).body
  expect(saved.translations.sw?.invoice?.sms).toBe('Deni la {amount}')
  expect(saved.templates.invoice).toEqual({ sms: '', email: { subject: '', text: '' } })
  expect(saved.templates.receipt?.sms).toContain('{code}')
  await page.getByRole('link', { name: 'All messages' }).click()
  const row = page.getByRole('row').filter({ hasText: 'Invoice15' })
  await row.getByText('Not sent').waitFor()
  await row.getByText('Your own').waitFor()

  await row.getByRole('link', { name: 'Invoice' }).click()
  await page.getByRole('button', { name: 'Take ours again in English' }).click()
  await page.getByRole('button', { name: 'Take ours again in Kiswahili' }).click()
  await button(page, 'Save').click()
  await told(page, /^Invoice: saved/)
  await expect.poll(async () => (await call<Texts>(page, 'GET', '/settings/messages')).body.templates.invoice?.sms).toContain('{number}')
})

flow('quiet hours are set, on a phone too, and the form says what holds now', async ({ page }) => {
  await signIn(page, 'admin', '/message-texts')
  await expectNoSideways(page)
  await page.getByRole('switch', { name: 'Quiet hours' }).click()
  await page.getByLabel('From').fill('22:00')
  await page.getByLabel('Until').fill('06:30')
  await button(page, 'Save').click()
  await told(page, 'Saved. Nothing that can wait goes from 22:00 until 06:30.')
  expect((await call<Texts>(page, 'GET', '/settings/messages')).body.quietHours).toEqual({ from: '22:00', to: '06:30' })
  await page.getByRole('switch', { name: 'Quiet hours' }).click()
  await button(page, 'Save').click()
  await told(page, 'Saved. There are no quiet hours any more.')
  await goTo(page, 'admin', '/message-texts/walled_garden')
  await expectNoSideways(page)
}, phone)

flow('support reads the texts and changes none', async ({ page }) => {
  await signIn(page, 'support', '/message-texts/receipt')
  await page.getByText('An administrator writes these texts.').waitFor()
  expect(await button(page, 'Save').count()).toBe(0)
  expect(await field(page, 'SMS').first().isEditable()).toBe(false)
  await expectNoViolations(page, 'texts that one may only read')
  expect((await call(page, 'PUT', '/settings/messages', { quietHours: null })).status).toBe(403)
})

flow('staff chooses the language of a customer, and that only needed messages go', async ({ page }) => {
  await signIn(page, 'admin')
  const { body: customers } = await call<{ data: Row[] }>(page, 'GET', '/subscribers?q=hibiscus')
  const id = customers.data[0]?.id
  await goTo(page, 'admin', `/customers/${id}`)
  await button(page, 'Edit').click()
  await dialogOf(page).getByRole('combobox', { name: 'Language of messages' }).selectOption('sw')
  await dialogOf(page).getByRole('checkbox', { name: 'Only messages that are needed' }).check()
  await expectNoViolations(page, 'the form of a customer')
  await button(dialogOf(page), 'Save').click()
  await told(page, 'Saved.')
  const read = async () => (await call<Row>(page, 'GET', `/subscribers/${id}`)).body
  await expect.poll(async () => (await read()).language).toBe('sw')
  expect((await read()).onlyNeeded).toBe(true)
  await button(page, 'Edit').click()
  await dialogOf(page).getByRole('combobox', { name: 'Language of messages' }).selectOption('')
  await dialogOf(page).getByRole('checkbox', { name: 'Only messages that are needed' }).uncheck()
  await button(dialogOf(page), 'Save').click()
  await expect.poll(async () => (await read()).language).toBeNull()
})
