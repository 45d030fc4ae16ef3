import { FileInput, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWrite } from '../../api/write'
import { useText } from '../../text/catalogue'
import { firmwareText } from '../../text/firmware'
import { FormDialog } from '../../ui/FormDialog'
import { fileNameOf, largest } from './campaign'

/** UploadDialog puts a file of firmware on the CPE server. */
export function UploadDialog({ onClose }: { onClose: () => void }) {
  const t = useText(firmwareText)
  const [file, setFile] = useState<File | null>(null)
  const [typed, setTyped] = useState({ filename: '', version: '', oui: '', productClass: '' })
  const [reading, setReading] = useState(false)
  const write = useWrite('post', '/cpe/firmware/upload', { told: () => t.uploadedNow, then: onClose })
  const set = (part: Partial<typeof typed>) => setTyped((v) => ({ ...v, ...part }))
  const large = file !== null && file.size > largest
  const send = async () => {
    if (!file) return
    setReading(true)
    const data = await encoded(file).finally(() => setReading(false))
    write.mutate({ body: { filename: typed.filename.trim(), version: typed.version.trim(), oui: typed.oui.trim(), productClass: typed.productClass.trim(), data } })
  }
  return (
    <FormDialog
      title={t.upload}
      hint={t.uploadHint}
      verb={t.upload}
      ready={file !== null && !large && typed.filename.trim() !== '' && typed.version.trim() !== '' && typed.oui.trim() !== ''}
      pending={reading || write.isPending}
      error={write.error}
      onSubmit={() => void send()}
      onClose={onClose}
    >
      <FileInput
        label={t.choose} value={file} error={large ? t.tooLarge : write.error?.of('data')}
        onChange={(chosen) => {
          setFile(chosen)
          if (chosen) set({ filename: fileNameOf(chosen.name) })
        }}
      />
      <TextInput label={t.filename} description={t.filenameHint} value={typed.filename} onChange={(e) => set({ filename: e.currentTarget.value })} error={write.error?.of('filename')} maxLength={100} autoComplete="off" spellCheck={false} />
      <TextInput label={t.version} description={t.versionHint} value={typed.version} onChange={(e) => set({ version: e.currentTarget.value })} error={write.error?.of('version')} maxLength={100} autoComplete="off" spellCheck={false} />
      <TextInput label={t.oui} value={typed.oui} onChange={(e) => set({ oui: e.currentTarget.value })} error={write.error?.of('oui')} maxLength={16} autoComplete="off" spellCheck={false} />
      <TextInput label={t.productClass} description={t.productClassHint} value={typed.productClass} onChange={(e) => set({ productClass: e.currentTarget.value })} error={write.error?.of('productClass')} maxLength={64} autoComplete="off" spellCheck={false} />
    </FormDialog>
  )
}

/** encoded reads a file in base64. */
function encoded(file: File): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader()
    reader.onerror = () => failed(reader.error ?? new Error('The file cannot be read.'))
    reader.onload = () => done(String(reader.result).replace(/^data:[^,]*,/, ''))
    reader.readAsDataURL(file)
  })
}
