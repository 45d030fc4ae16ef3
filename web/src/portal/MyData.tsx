import { useMutation } from '@tanstack/react-query'
import { client } from '../api/client'
import { useText } from '../text/catalogue'
import { portalDataText } from '../text/portalData'
import { saveAnswer } from '../ui/save'
import { Button, Card, Note } from './parts'

/** MyData saves all that is kept of an account as one file. */
export function MyData({ id }: { id: string }) {
  const t = useText(portalDataText)
  const file = useMutation({
    mutationFn: () => saveAnswer(() => client.GET('/subscribers/{id}/personal-data', {
      params: { path: { id } }, parseAs: 'blob',
    })),
  })
  return (
    <Card title={t.title}>
      <p>{t.hint}</p>
      <Button busy={file.isPending} onClick={() => file.mutate()}>{t.download}</Button>
      <p role="status">{file.isSuccess && t.done}</p>
      <Note of={file.error} />
      <p className="dim">{t.forget}</p>
    </Card>
  )
}
