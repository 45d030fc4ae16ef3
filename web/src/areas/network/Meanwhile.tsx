import { Alert, Button, Group, Text } from '@mantine/core'
import { useText } from '../../text/catalogue'
import { uiText } from '../../text/ui'

/** Meanwhile tells that somebody else has changed what is being edited, and takes the new values when asked. */
export function Meanwhile({ onTake }: { onTake: () => void }) {
  const t = useText(uiText)
  return (
    <Alert color="yellow" variant="light" p="sm" role="alert">
      <Text size="sm" fw={500}>{t.editedMeanwhile}</Text>
      <Text size="sm">{t.editedHint}</Text>
      <Group mt={6}><Button size="compact-sm" variant="default" onClick={onTake}>{t.takeTheirs}</Button></Group>
    </Alert>
  )
}
