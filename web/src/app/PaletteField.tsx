import { TextInput } from '@mantine/core'
import type { RefObject } from 'react'
import { appText } from '../text/app'
import { useText } from '../text/catalogue'
import { Search } from '../ui/icons'
import { useFocusBack } from '../ui/useFocusBack'
import './app.css'

/** PaletteProps are those of the palette; typed has what was typed before it was there, and ends with \n after Enter. */
export interface PaletteProps {
  typed: RefObject<string>
  onClose: () => void
}

/** PaletteField takes what is typed while the palette itself is still being read. */
export function PaletteField({ typed, onClose }: PaletteProps) {
  const t = useText(appText)
  useFocusBack()
  return (
    <div className="palette-above">
      <div className="palette" role="dialog" aria-modal aria-label={t.search}>
        <TextInput
          defaultValue={typed.current}
          onChange={(e) => (typed.current = e.currentTarget.value)}
          onKeyDown={(e) => {
            if (e.key === 'Enter') typed.current = `${typed.current.trimEnd()}\n`
            else if (e.key === 'Escape') onClose()
            else if (e.key === 'Tab') e.preventDefault()
          }}
          aria-label={t.search}
          leftSection={<Search size={16} aria-hidden />}
          variant="unstyled"
          size="md"
          maxLength={200}
          autoComplete="off"
          spellCheck={false}
          autoFocus
        />
      </div>
    </div>
  )
}
