import { appText } from '../../text/app'
import { useText } from '../../text/catalogue'
import { Page } from '../../ui/Page'

/** HomePage answers: is everything all right? */
export default function HomePage() {
  const t = useText(appText)
  return <Page title={t.home}>{null}</Page>
}
