import { Button, FileButton, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api/client'
import { useWrite } from '../../api/write'
import { useMay } from '../../app/person'
import { useText } from '../../text/catalogue'
import { settingsText } from '../../text/settings'
import { Trash2 } from '../../ui/icons'
import { Section } from '../../ui/Page'
import { ProblemNote } from '../../ui/ProblemNote'
import './settings.css'

// A request has at most 1 MiB, and base64 makes a file larger by a third.
const mostBytes = 750_000

/** inBase64 is the content of a file as a request has it. */
const inBase64 = (file: File) => new Promise<string>((done, failed) => {
  const reader = new FileReader()
  reader.onload = () => done(String(reader.result).split(',')[1] ?? '')
  reader.onerror = () => failed(reader.error)
  reader.readAsDataURL(file)
})

/** Logo shows the picture on documents, as it is drawn there, and changes it at once. */
export function Logo() {
  const t = useText(settingsText)
  const may = useMay()
  const read = api.useQuery('get', '/settings/organization/logo', {})
  const put = useWrite('put', '/settings/organization/logo', { told: () => t.logoSaved })
  const remove = useWrite('delete', '/settings/organization/logo', { told: () => t.logoRemoved })
  const [wrong, setWrong] = useState<string | null>(null)
  const logo = read.data
  const choose = async (file: File | null) => {
    if (!file) return
    put.reset()
    remove.reset()
    setWrong(file.size > mostBytes ? t.logoTooLarge : null)
    if (file.size <= mostBytes) put.mutate({ body: { image: await inBase64(file) } })
  }
  return (
    <Section title={t.logo}>
      <Stack gap="xs" align="start">
        <Text size="sm" c="dimmed">{t.logoHint}</Text>
        <div className="logo">
          {!read.error && logo === undefined && <Skeleton h={72} w={192} />}
          {logo?.image && <img src={`data:image/png;base64,${logo.image}`} alt={t.logo} width={logo.width} height={logo.height} />}
          {logo && !logo.image && <Text size="sm">{t.noLogo}</Text>}
        </div>
        {may('PUT /settings/organization/logo') && (
          <Group gap="xs">
            <FileButton onChange={(file) => void choose(file)} accept="image/png,image/jpeg">
              {(props) => <Button {...props} variant="default" loading={put.isPending}>{t.logoChoose}</Button>}
            </FileButton>
            {logo?.image && (
              <Button
                variant="subtle"
                leftSection={<Trash2 size={14} aria-hidden />}
                loading={remove.isPending}
                onClick={() => remove.mutate({})}
              >
                {t.logoRemove}
              </Button>
            )}
          </Group>
        )}
        {wrong && <Text size="sm" c="var(--tone-bad)" role="alert">{wrong}</Text>}
        {read.error && <ProblemNote of={read.error} retry={() => void read.refetch()} />}
        {put.error && <ProblemNote of={put.error} />}
        {remove.error && <ProblemNote of={remove.error} />}
      </Stack>
    </Section>
  )
}
