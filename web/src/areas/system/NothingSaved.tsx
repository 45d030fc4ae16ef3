import { Text } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { homeText } from '../../text/home'
import { Stopped } from './Stopped'

/** NothingSaved says of an organization's platform that it saves nothing now. */
export function NothingSaved() {
  const t = useText(homeText)
  return (
    <Stopped name={t.faults.nothing_saved!('')}>
      <Text size="sm">{t.help.nothing_saved}</Text>
    </Stopped>
  )
}
