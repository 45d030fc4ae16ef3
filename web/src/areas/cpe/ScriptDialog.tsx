import { FileInput, Textarea, TextInput } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import type { Problem } from '../../api/problem'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { deviceScriptsText } from '../../text/deviceScripts'
import { useFormat } from '../../text/format'
import { FormDialog } from '../../ui/FormDialog'
import { fileNameOf } from './campaign'
import { lineIn, namesScript, rangeOf } from './script'

/** ScriptDialog writes a script: a new one, or another version of one. One that is refused has its line marked. */
export function ScriptDialog({ of, taken = [], onClose }: {
  /** of is the script that is replaced; undefined = a new one. */
  of?: { name: string; script: string }
  /** taken are the names of the scripts that are there. */
  taken?: string[]
  onClose: () => void
}) {
  const t = useText(deviceScriptsText)
  const f = useFormat()
  const navigate = useNavigate()
  const [name, setName] = useState(of?.name ?? '')
  const [script, setScript] = useState(of?.script ?? '')
  const [file, setFile] = useState<File | null>(null)
  const [unread, setUnread] = useState(false)
  const write = useWrite('put', '/cpe/provisions/{name}', {
    told: (answer) => ('state' in answer ? t.written[answer.state] : ''),
    then: () => {
      onClose()
      void navigate({ to: '/device-scripts/$name', params: { name } })
    },
  })
  const { area, line, refused } = useRefused(write.error, script)
  const there = !of && taken.includes(name)
  const fault = name !== '' && !namesScript(name) ? t.nameFault : there ? t.nameTaken : write.error?.of('name')
  const read = (chosen: File | null) => {
    setFile(chosen)
    setUnread(false)
    if (!chosen) return
    if (name === '') setName(fileNameOf(chosen.name.replace(/\.[^.]*$/, '')).replaceAll('.', '-').slice(0, 64))
    chosen.text().then(setScript, () => setUnread(true))
  }
  return (
    <FormDialog
      title={of ? `${t.replace}: ${of.name}` : t.upload}
      hint={t.saveHint}
      verb={t.save}
      ready={namesScript(name) && !there && script.trim() !== ''}
      pending={write.isPending}
      error={write.error}
      onSubmit={() => write.mutate({ params: { path: { name } }, body: { script } })}
      onClose={onClose}
    >
      {!of && (
        <TextInput
          label={t.name} description={t.nameHint} value={name} onChange={(e) => setName(e.currentTarget.value)} error={fault}
          maxLength={64} autoComplete="off" spellCheck={false} data-autofocus
        />
      )}
      <FileInput label={t.file} description={t.fileHint} value={file} onChange={read} error={unread ? t.fileFault : undefined} />
      <Textarea
        ref={area} label={t.script} value={script} onChange={(e) => setScript(e.currentTarget.value)}
        error={refused !== null && line !== null ? t.line(f.number(line), refused) : write.error?.of('script')}
        autosize minRows={8} maxRows={16} spellCheck={false} autoComplete="off" styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
      />
    </FormDialog>
  )
}

/** useRefused finds the line at which a script was refused, and marks it in its field. */
function useRefused(error: Problem | null, script: string) {
  const area = useRef<HTMLTextAreaElement>(null)
  const [sent, setSent] = useState<{ error: Problem | null; script: string }>({ error: null, script: '' })
  if (sent.error !== error) setSent({ error, script })
  const line = lineIn(error?.details)
  useEffect(() => {
    if (line === null || !area.current) return
    area.current.focus()
    area.current.setSelectionRange(...rangeOf(area.current.value, line))
  }, [error, line])
  return { area, line, refused: line === null ? null : sent.script.slice(...rangeOf(sent.script, line)).trim().slice(0, 120) }
}
