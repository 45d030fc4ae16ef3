import { useText } from '../text/catalogue'
import { portalPagesText } from '../text/portalPages'
import { Button } from './parts'
import { reload, useNewVersion } from './updates'

/** NewVersion says that there is a new version of the pages, and opens it. */
export function NewVersion() {
  const t = useText(portalPagesText)
  return useNewVersion() && <p className="note">{t.newVersion} <Button onClick={reload}>{t.loadVersion}</Button></p>
}
