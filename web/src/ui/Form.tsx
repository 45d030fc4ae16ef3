import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react'

/** leaves marks a button of a Form that works while it saves, as one that closes its dialog. */
export const leaves = { 'data-leaves': true }

/**
 * Form is every form of the pages. It is sent by Enter, once at a time, and not while a field of it says itself that
 * something is wrong. While it saves, nothing in it changes: what was typed meanwhile would be in no write, and gone when
 * the form shows what was saved. The focus stays where it is.
 */
export function Form({ busy = false, onSubmit, children }: {
  /** busy = what was sent is being saved. */
  busy?: boolean
  onSubmit: () => void
  children: ReactNode
}) {
  const form = useRef<HTMLFormElement>(null)
  useLocked(form, busy)
  return (
    <form
      ref={form}
      className="form"
      aria-busy={busy}
      onSubmit={(e) => {
        e.preventDefault()
        // A dialog that a form opens is a part of it, but its own form is another one.
        e.stopPropagation()
        const fault = e.currentTarget.querySelector<HTMLElement>('[data-fault]')
        if (fault) fault.focus()
        else if (!busy) onSubmit()
      }}
    >
      {children}
    </form>
  )
}

/** useLocked keeps the fields of a form as they are. Disabled ones would lose the focus, as the form's button does. */
function useLocked(form: RefObject<HTMLFormElement | null>, locked: boolean) {
  useLayoutEffect(() => {
    const within = form.current
    if (!locked || !within) return
    const written = [...within.querySelectorAll<HTMLInputElement | HTMLTextAreaElement>('input, textarea')].filter((f) => !f.readOnly)
    for (const field of written) field.readOnly = true
    const focused = document.activeElement
    // Switches, choices and buttons know no readOnly.
    const refuse = (e: Event) => {
      const passes = e instanceof KeyboardEvent && (e.key === 'Tab' || e.key === 'Escape' || e.ctrlKey || e.metaKey)
      if (passes || (e.target instanceof Element && e.target.closest('a, [data-leaves]'))) return
      e.stopPropagation()
      if (e.type !== 'pointerdown') e.preventDefault()
    }
    const changing = ['click', 'keydown', 'pointerdown', 'drop']
    for (const type of changing) within.addEventListener(type, refuse, { capture: true })
    return () => {
      for (const field of written) field.readOnly = false
      for (const type of changing) within.removeEventListener(type, refuse, { capture: true })
      if (document.activeElement === document.body && focused instanceof HTMLElement) focused.focus()
    }
  }, [form, locked])
}
