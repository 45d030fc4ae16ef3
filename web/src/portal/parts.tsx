import { type AnchorHTMLAttributes, type ButtonHTMLAttributes, type InputHTMLAttributes, type ReactNode, useEffect, useId, useState } from 'react'
import { asProblem } from '../api/problem'
import { useText } from '../text/catalogue'
import { portalPagesText } from '../text/portalPages'
import { problemText, sentences } from '../text/problems'
import { useSecondsLeft } from '../ui/useSecondsLeft'
import { go } from './address'

/** Go is a link to a page of the portal. */
export function Go({ to, ...link }: { to: string } & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, 'href' | 'onClick'>) {
  return (
    <a
      {...link}
      href={to}
      onClick={(e) => {
        if (e.metaKey || e.ctrlKey || e.shiftKey || e.button !== 0) return
        e.preventDefault()
        go(to)
      }}
    />
  )
}

/** Button is a button; while busy it does nothing, and keeps the focus. */
export function Button({ busy = false, look = 'plain', disabled, onClick, ...button }: {
  busy?: boolean
  /** main is for the one thing that helps. */
  look?: 'plain' | 'main' | 'quiet'
} & Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'className'>) {
  const off = busy || disabled
  return <button type="button" {...button} className={`button ${look}`} aria-disabled={off} aria-busy={busy} onClick={off ? (e) => e.preventDefault() : onClick} />
}

/** Field is a labelled line to type into, with what is wrong with it. */
export function Field({ label, hint, fault, onType, ...input }: {
  label: string
  hint?: ReactNode
  fault?: string | false
  onType: (value: string) => void
} & Omit<InputHTMLAttributes<HTMLInputElement>, 'onChange'>) {
  const id = useId()
  const told = fault || hint
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        {...input}
        onChange={(e) => onType(e.currentTarget.value)}
        aria-invalid={Boolean(fault)}
        data-fault={fault ? true : undefined}
        aria-describedby={told ? `${id}-told` : undefined}
      />
      {told && <span id={`${id}-told`} className={fault ? 'fault' : 'dim'}>{told}</span>}
    </div>
  )
}

/** Area is a labelled field for several lines. */
export function Area({ label, hint, fault, value, onType }: {
  label: string
  hint?: ReactNode
  fault?: string | false
  value: string
  onType: (value: string) => void
}) {
  const id = useId()
  const told = fault || hint
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        rows={4}
        value={value}
        maxLength={4000}
        onChange={(e) => onType(e.currentTarget.value)}
        aria-invalid={Boolean(fault)}
        data-fault={fault ? true : undefined}
        aria-describedby={told ? `${id}-told` : undefined}
      />
      {told && <span id={`${id}-told`} className={fault ? 'fault' : 'dim'}>{told}</span>}
    </div>
  )
}

/** Choice is a field that offers some values. */
export function Choice({ label, value, of, onChoose }: {
  label: string
  value: string
  of: [value: string, name: string][]
  onChoose: (value: string) => void
}) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(e) => onChoose(e.currentTarget.value)}>
        {of.map(([each, name]) => <option key={each} value={each}>{name}</option>)}
      </select>
    </div>
  )
}

/** Note says in words what went wrong, with what to tell those who run the server. */
export function Note({ of, retry }: { of: unknown; retry?: () => void }) {
  const t = useText(portalPagesText)
  const words = useText(problemText)
  const left = useSecondsLeft(of)
  if (!of) return null
  const problem = asProblem(of)
  return (
    <div role="alert" className="note bad">
      {sentences(problem, words, left || problem.retryAfter).map((s) => <p key={s}>{s}</p>)}
      {problem.status >= 500 && problem.requestId && <p className="dim">{t.request(problem.requestId)}</p>}
      {retry && <Button onClick={retry}>{t.retry}</Button>}
    </div>
  )
}

/** Read is a read of the page, as the query cache gives it. */
interface Read<D> {
  data: D | undefined
  error: unknown
  refetch: () => unknown
}

/** Loaded draws what was read. Its place is kept, so that nothing jumps. */
export function Loaded<D>({ read, height = 96, children }: { read: Read<D>; height?: number; children: (data: D) => ReactNode }) {
  if (read.data !== undefined) return children(read.data)
  if (read.error) return <Note of={read.error} retry={() => void read.refetch()} />
  return <Waiting height={height} />
}

/** Waiting keeps the place of what is being read. */
export function Waiting({ height = 96 }: { height?: number }) {
  const t = useText(portalPagesText)
  return <div role="status" aria-label={t.loading} className="waiting" style={{ minHeight: height }} />
}

/** Page is a page with its name. */
export function Page({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <>
      <h1>{title}</h1>
      {children}
    </>
  )
}

/** Card is a part of a page with a heading. */
export function Card({ title, children, tone }: { title?: string; children: ReactNode; tone?: string }) {
  const id = useId()
  return (
    <section className="card" data-tone={tone} aria-labelledby={title ? id : undefined}>
      {title && <h2 id={id}>{title}</h2>}
      {children}
    </section>
  )
}

/** Facts are names with values. */
export function Facts({ of }: { of: (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {of.filter(([, value]) => value !== null && value !== undefined && value !== '').map(([name, value]) => (
        <div key={name}><dt>{name}</dt><dd>{value}</dd></div>
      ))}
    </dl>
  )
}

/** Copied is a text with a button that copies it. */
export function Copied({ text, name }: { text: string; name: string }) {
  const t = useText(portalPagesText)
  const [done, setDone] = useState(false)
  const copy = () => void navigator.clipboard.writeText(text).then(() => {
    setDone(true)
    setTimeout(() => setDone(false), 3000)
  }, () => undefined) // the text stands there to be read
  return (
    <span className="copied">
      <b className="figure">{text}</b>
      {'clipboard' in navigator && <Button look="quiet" aria-label={t.copy(name)} onClick={copy}><Mark path={done ? marks.done : marks.copy} /></Button>}
      <span role="status" className="dim">{done && t.copied}</span>
    </span>
  )
}

/** marks are the few pictures of the portal, each one path. */
export const marks = {
  home: 'M3 11l9-8 9 8M5 10v10h5v-6h4v6h5V10',
  bills: 'M6 2h12v20l-3-2-3 2-3-2-3 2zM9 7h6M9 11h6M9 15h4',
  usage: 'M4 20V10M10 20V4M16 20v-7M22 20H2',
  support: 'M4 4h16v12H9l-5 4z',
  profile: 'M16 8a4 4 0 1 1-8 0 4 4 0 0 1 8 0ZM4 21c1-5 4-6 8-6s7 1 8 6',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  done: 'M4 12l5 6L20 6',
} as const

/** Mark draws a picture. */
export function Mark({ path }: { path: string }) {
  return <svg viewBox="0 0 24 24" className="mark" aria-hidden><path d={path} /></svg>
}
