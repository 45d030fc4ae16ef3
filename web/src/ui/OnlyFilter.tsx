import { Button } from '@mantine/core'
import { X } from './icons'

/** OnlyFilter says in words what a list is narrowed to, by a link that led here, and takes that away. */
export function OnlyFilter({ words, title, onClear }: { words: string; title: string; onClear: () => void }) {
  return (
    <Button variant="light" size="sm" px="xs" rightSection={<X size={14} aria-hidden />} onClick={onClear} title={title}>
      {words}
    </Button>
  )
}
