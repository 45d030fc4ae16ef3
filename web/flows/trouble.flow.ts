import { expect } from 'vitest'
import { at, besideOthers, call, expectNoSideways, phone, signIn } from './kit'

besideOthers('while the API is away each part says so, and trying again helps', async ({ page }) => {
  await signIn(page, 'support')
  await page.route('**/subscribers?*', (route) => route.abort())
  await page.getByRole('navigation', { name: 'Menu' }).getByRole('link', { name: 'Customers' }).click()
  await page.getByRole('alert').getByText('The server cannot be reached.').waitFor()
  await page.getByRole('heading', { level: 1, name: 'Customers' }).waitFor()
  await page.unroute('**/subscribers?*')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('row').nth(3).waitFor()
})

besideOthers('an error of the server shows its request id', async ({ page }) => {
  await signIn(page, 'support')
  await page.route('**/subscribers?*', (route) => {
    return route.fulfill({
      status: 500,
      headers: { 'X-Request-Id': 'req-of-a-flow' },
      json: { statusCode: 500, error: 'Internal Server Error', message: 'Something failed.', code: 'internal' },
    })
  })
  await page.goto(`${at.isp}/app/customers`)
  await page.getByRole('alert').getByText('req-of-a-flow').waitFor()
})

const names = [
  ['500 letters', 'W'.repeat(500)],
  ['100 letters', 'W'.repeat(100)],
  ['markup', '<script>document.title="stolen"</script><img src=x onerror=alert(1)>'],
  ['right to left', 'شركة النخلة للاتصالات'],
  ['pictures', '👩🏽‍💻🏠🌴 Nyumba ya Familia 🦒'],
] as const

for (const [kind, name] of names) {
  besideOthers(`a name with ${kind} is text, and breaks no page of a phone`, async ({ page }) => {
    await signIn(page, 'admin')
    const last = `Jina ${Date.now()}`
    const made = await call<{ id: string; firstName: string; message: string }>(page, 'POST', '/subscribers', {
      firstName: name, lastName: last, phone: `07${String(Date.now()).slice(-8)}`,
    })
    if (made.status === 422) {
      // The API says how long a name may be; what it does not take cannot break a page.
      expect(kind).toBe('500 letters')
      return
    }
    expect(made.status).toBe(201)
    await page.goto(`${at.isp}/app/customers?q=${encodeURIComponent(last)}`)
    await page.getByRole('link', { name: last }).waitFor()
    await expectNoSideways(page, 'the list')
    await page.goto(`${at.isp}/app/customers/${made.body.id}`)
    const h1 = page.getByRole('heading', { level: 1 })
    await h1.filter({ hasText: last }).waitFor()
    expect(await h1.innerText()).toContain(made.body.firstName)
    await expectNoSideways(page, 'the customer')
    expect(await page.title()).not.toBe('stolen')
  }, phone)
}
