import { Text } from '@mantine/core'
import { useMay } from '../app/person'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { To } from './To'

/** EventHistory leads quietly to all that was recorded about something, for those who may read it. */
export function EventHistory({ type, id, of }: {
  /** type is the category of its events; an account has the id of its customer. */
  type: string
  id: string
  /** of says what it is, where a page has several. */
  of?: string
}) {
  const t = useText(uiText)
  const may = useMay()
  if (!may('GET /history/{type}/{id}')) return null
  const name = type === 'account' ? t.accountHistory : t.eventHistory
  return (
    <Text size="xs" c="dimmed" component="div" className="unprinted">
      <To way={{ to: `/history/${type}/${id}` }}>{of ? `${name}: ${of}` : name}</To>
    </Text>
  )
}
