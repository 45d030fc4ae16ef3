import { useText } from '../text/catalogue'
import { portalPagesText } from '../text/portalPages'
import { Button } from './parts'
import { reload } from './updates'

/** Failed stands where a page could not be drawn. */
export function Failed() {
  const t = useText(portalPagesText)
  return (
    <main className="alone" role="alert">
      <h1>{t.failedHere}</h1>
      <Button look="main" onClick={reload}>{t.reload}</Button>
    </main>
  )
}
