import { Button, type ButtonProps } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useText } from '../text/catalogue'
import { uiText } from '../text/ui'
import { Download } from './icons'
import { ProblemNote } from './ProblemNote'
import { saveAnswer } from './save'

/** DocumentButton saves a document of the server; what went wrong stands behind the button. */
export function DocumentButton({ read, of, disabled, ...look }: {
  /** read asks for the document, as a blob. */
  read: () => Promise<{ data?: unknown; response: Response }>
  /** of says which document it is where several are on a page. */
  of?: string
  disabled?: boolean
} & ButtonProps) {
  const t = useText(uiText)
  const file = useMutation({
    mutationFn: () => saveAnswer(read),
  })
  return (
    <>
      <Button
        variant="default"
        leftSection={<Download size={14} aria-hidden />}
        loading={file.isPending}
        disabled={disabled}
        onClick={() => file.mutate()}
        aria-label={of && t.pdfOf(of)}
        {...look}
      >
        {t.pdf}
      </Button>
      {file.error && <ProblemNote of={file.error} retry={file.mutate} />}
    </>
  )
}
