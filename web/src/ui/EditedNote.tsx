import { Alert, Button, Group, Text } from '@mantine/core'
import { asProblem } from '../api/problem'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { inWords } from './edited'
import { TriangleAlert } from './icons'
import { ProblemNote } from './ProblemNote'
import type { Edited } from './useEdited'

/**
 * Names are what a form calls its fields, and how it says a value that is no text or number. A field that nobody types
 * into, such as the version of secrets, has none.
 */
export type Names<F> = { [Field in keyof F]: string | [name: string, says: (value: F[Field]) => string] | null }

/** unsaid is how a form tells of a secret that was typed. */
export const unsaid = () => '••••••'

/**
 * EditedNote stands at the end of a form: it tells that somebody else changed the same thing, found by the stream or
 * by a save that was refused (412), or why else the save was refused. After the new values were taken it tells what was
 * typed into the fields that both have changed.
 */
export function EditedNote<F extends object>({ edited, names, error, onTake }: {
  edited: Pick<Edited<F>, 'meanwhile' | 'take' | 'lost' | 'forget'>
  names: Names<F>
  error: unknown
  /** onTake has the thing read again, and forgets the refused save. */
  onTake: () => void
}) {
  const t = useText(uiText)
  const refused = Boolean(error) && asProblem(error).status === 412
  const lost = (Object.keys(edited.lost) as (keyof F)[]).map((field) => told(names[field], edited.lost[field] as F[keyof F]))
  const changed = edited.meanwhile || refused
  if (!changed && lost.length === 0) return error ? <ProblemNote of={error} /> : null
  const next = () => {
    if (!changed) return edited.forget()
    edited.take()
    onTake()
  }
  return (
    <>
      <Alert className="edited-note" color="orange" variant="outline" icon={<TriangleAlert size={18} aria-hidden />} role="alert" p="sm">
        <Text size="sm" fw={500}>{changed ? t.editedMeanwhile : t.bothChanged}</Text>
        {changed && <Text size="sm">{t.takeHint}</Text>}
        {lost.map(([name, typed]) => <Text key={name} size="sm">{typed ? t.youTyped(name, typed) : t.youEmptied(name)}</Text>)}
        <Group mt={6}>
          <Button
            size="compact-sm"
            variant="default"
            onClick={(e) => {
              // The button goes with the note, and the focus is not to go with it.
              e.currentTarget.form?.querySelector<HTMLElement>('input:not([disabled], [readonly]), textarea')?.focus()
              next()
            }}
          >
            {changed ? t.takeTheirs : t.understood}
          </Button>
        </Group>
      </Alert>
      {!changed && error ? <ProblemNote of={error} /> : null}
    </>
  )
}

function told<Value>(of: string | [string, (value: Value) => string] | null, value: Value): [name: string, typed: string] {
  if (of === null) return ['', '']
  return typeof of === 'string' ? [of, inWords(value)] : [of[0], of[1](value)]
}
