import { Button, Group, Text } from '@mantine/core'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import type { Edited } from './useEdited'

/** SaveBar ends a form of useEdited: it saves, or forgets what was typed, and says whether there is anything to save. */
export function SaveBar({ edited, pending }: { edited: Pick<Edited<object>, 'dirty' | 'meanwhile' | 'undo'>; pending: boolean }) {
  const t = useText(uiText)
  return (
    <Group gap="xs">
      <Button type="submit" size="sm" loading={pending} disabled={!edited.dirty || edited.meanwhile}>{t.save}</Button>
      {edited.dirty && !pending && (
        <>
          <Button size="sm" variant="default" onClick={edited.undo}>{t.undoEdits}</Button>
          <Text size="sm" c="dimmed" role="status">{t.unsaved}</Text>
        </>
      )}
    </Group>
  )
}
