import { Alert, Button, Group, Text } from '@mantine/core'
import { asProblem } from '../api/problem'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { TriangleAlert } from './icons'
import { ProblemNote } from './ProblemNote'
import type { Edited } from './useEdited'

/**
 * EditedNote stands at the end of a form: it tells that somebody else changed the same thing, found by the stream or
 * by a save that was refused (412), or why else the save was refused.
 */
export function EditedNote({ edited, error, onTake }: {
  edited: Pick<Edited<object>, 'meanwhile' | 'undo'>
  error: unknown
  /** onTake has the thing read again, and forgets the refused save. */
  onTake: () => void
}) {
  const t = useText(uiText)
  const refused = Boolean(error) && asProblem(error).status === 412
  if (!edited.meanwhile && !refused) return error ? <ProblemNote of={error} /> : null
  const take = () => {
    edited.undo()
    onTake()
  }
  return (
    <Alert className="edited-note" color="orange" variant="outline" icon={<TriangleAlert size={18} aria-hidden />} role="alert" p="sm">
      <Text size="sm" fw={500}>{t.editedMeanwhile}</Text>
      <Text size="sm">{t.editedHint}</Text>
      <Group mt={6}>
        <Button size="compact-sm" variant="default" onClick={take}>{t.takeTheirs}</Button>
      </Group>
    </Alert>
  )
}
