import { Button } from '@mantine/core'
import { Problem } from '../api/problem'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { Empty } from '../ui/Empty'
import { ProblemNote } from '../ui/ProblemNote'

/** Failed is shown in place of a page that has thrown. The frame around it lives. */
export function Failed({ error }: { error: unknown }) {
  const t = useText(appText)
  const words = useText(uiText)
  return (
    <Empty
      whole
      title={t.failed}
      action={
        <>
          {error instanceof Problem && <ProblemNote of={error} />}
          <Button variant="default" onClick={() => location.reload()}>{words.reload}</Button>
        </>
      }
    >
      {t.failedHint}
    </Empty>
  )
}
