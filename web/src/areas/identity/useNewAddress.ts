import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { client } from '../../api/client'
import { isDeviceCode, typedCode } from './factorCode'
import { useAsking } from './useAsking'

/** useNewAddress changes an own address by a code to the present one and another one to the new one, without its look. */
export function useNewAddress(kind: 'email' | 'phone', onDone: () => void) {
  const queries = useQueryClient()
  const [address, setAddress] = useState('')
  const [sent, setSent] = useState('')
  const [oldCode, setOldCode] = useState('')
  const [newCode, setNewCode] = useState('')
  const { pending, problem, ask } = useAsking()
  const send = () => void ask(async () => {
    await client.POST('/auth/contacts', { body: { [kind]: address.trim() } })
    setSent(address.trim())
  })
  const confirm = () => void ask(async () => {
    await client.POST('/auth/contacts/confirm', { body: { oldCode: typedCode(oldCode), newCode: typedCode(newCode) } })
    void queries.invalidateQueries()
    onDone()
  })
  return {
    /** sent is the new address once the codes are on their way; empty before. */
    sent,
    address, setAddress, oldCode, setOldCode, newCode, setNewCode, pending, problem,
    ready: sent ? isDeviceCode(oldCode) && isDeviceCode(newCode) : address.trim() !== '',
    submit: sent ? confirm : send,
  }
}
