import { Stack, Text, Title } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { secondFactorText } from '../../text/secondFactor'
import { EnrolFactor } from './EnrolFactor'

/** EnrolFirst is all that somebody may do who needs a second factor and has none. */
export default function EnrolFirst({ onDone }: { onDone: () => void }) {
  const t = useText(secondFactorText)
  return (
    <Stack gap="sm">
      <Title order={2} size="h5">{t.needed}</Title>
      <Text size="sm">{t.neededHint}</Text>
      <EnrolFactor onDone={onDone} />
    </Stack>
  )
}
