import { useEffect, useRef, useState } from 'react'
import { client } from '../../api/client'
import { cookiesAreNew } from '../../api/session'
import type { Shape } from '../../api/types'
import { chosenMark } from './chosen'
import { typedCode } from './factorCode'
import { useAsking } from './useAsking'

/** Step is how far a sign-in by code has come. */
export type Step =
  | { at: 'address' }
  | { at: 'code' }
  /** An organization is chosen, whose own address goes on. */
  | { at: 'places'; token: string; list: Shape<'MembershipResponse'>[] }
  /** The token stands for the first of two steps. */
  | { at: 'factor'; token: string }
  /** What was chosen at the platform's own address is entered. */
  | { at: 'entering' }

interface Opened {
  mustChangePassword: boolean
  requiresSecondFactor?: boolean
  verifiedToken?: string
}

/**
 * useByCode is a sign-in by a code that is sent to an address, without its look. At the platform's own address a person
 * chooses an organization, whose address takes the choice behind the # of its page.
 */
export function useByCode({ email = '', onDone, onChanged }: {
  /** email is known when a session has ended; nobody else may go on in its place. */
  email?: string
  onDone: (mustChangePassword: boolean) => void
  /** onChanged is called when the person has chosen a new password instead. */
  onChanged?: () => void
}) {
  const [choice] = useState(() => (location.hash.startsWith(chosenMark) ? location.hash.slice(chosenMark.length) : ''))
  const [address, setAddress] = useState(email)
  const [step, setStep] = useState<Step>({ at: choice ? 'entering' : 'address' })
  const asking = useAsking()
  const opened = (answer: Opened) => {
    if (answer.requiresSecondFactor) {
      setStep({ at: 'factor', token: answer.verifiedToken ?? '' })
      return
    }
    cookiesAreNew()
    onDone(answer.mustChangePassword)
  }
  const entered = useRef(false)
  useEffect(() => {
    if (choice === '' || entered.current) return
    entered.current = true
    history.replaceState(history.state, '', location.pathname + location.search)
    const [orgId = '', verifiedToken = ''] = choice.split('/')
    void asking.ask(async () => opened((await client.POST('/auth/otp/complete', { body: { verifiedToken, orgId } })).data!))
  })
  return {
    step,
    address,
    setAddress,
    ...asking,
    /** send has a code sent to the address. */
    send: () => {
      if (asking.wait > 0) return
      void asking.ask(async () => {
        await client.POST('/auth/otp/send', { body: { identifier: address.trim() } })
        setStep({ at: 'code' })
      })
    },
    /** prove shows the code; with a new password the person signs in with that afterwards. */
    prove: (code: string, newPassword: string | null = null) => {
      const digits = typedCode(code)
      if (asking.wait > 0 || !/^\d{6}$/.test(digits)) return
      const proof = { identifier: address.trim(), code: digits }
      void asking.ask(async () => {
        if (newPassword !== null) {
          await client.POST('/auth/password/reset', { body: { ...proof, newPassword } })
          onChanged?.()
          return
        }
        const data = (await client.POST('/auth/otp/verify', { body: proof })).data!
        if (data.requiresOrgSelection) setStep({ at: 'places', token: data.verifiedToken ?? '', list: data.organizations ?? [] })
        else opened(data)
      })
    },
    /** other begins with another address. */
    other: () => {
      asking.forget()
      setStep({ at: 'address' })
    },
  }
}
