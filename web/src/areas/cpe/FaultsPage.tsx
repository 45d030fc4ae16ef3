import { useText } from '../../text/catalogue'
import { deviceFaultsText } from '../../text/deviceFaults'
import { Page } from '../../ui/Page'
import { Faults } from './Faults'

/** FaultsPage answers: what do devices refuse, since when, and is it over? */
export default function FaultsPage() {
  const t = useText(deviceFaultsText)
  return <Page title={t.faults} wide><Faults /></Page>
}
