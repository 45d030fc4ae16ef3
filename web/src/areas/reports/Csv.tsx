import { Button } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useText } from '../../text/catalogue'
import { reportsText } from '../../text/reports'
import { Download } from '../../ui/icons'
import { ProblemNote } from '../../ui/ProblemNote'
import { save } from '../../ui/save'

/** useCsv gives the button that saves a report as a table, and the note when that has failed. */
export function useCsv(name: string, read: () => Promise<{ data?: Blob }>, disabled = false) {
  const t = useText(reportsText)
  const csv = useMutation({
    mutationFn: async () => {
      const { data } = await read()
      save(name, data!)
    },
  })
  return {
    button: (
      <Button
        onClick={() => csv.mutate()}
        loading={csv.isPending}
        disabled={disabled}
        variant="default"
        leftSection={<Download size={14} aria-hidden />}
      >
        {t.csv}
      </Button>
    ),
    problem: csv.error && <ProblemNote of={csv.error} retry={csv.mutate} />,
  }
}
