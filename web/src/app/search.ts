import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { LucideIcon } from 'lucide-react'
import { client } from '../api/client'
import { User } from '../ui/icons'

/** Found is one thing that the search has found, with the page that shows it. */
export interface Found {
  key: string
  to: string
  title: string
  subtitle: string
  icon: LucideIcon
}

/** useFound asks for a text; what was found before stays until the answer is there. */
export function useFound(text: string): { entries: Found[]; waiting: boolean; failed: boolean } {
  const read = useQuery({
    queryKey: ['get', '/search', { params: { query: { q: text } } }],
    enabled: text.length > 0,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { data } = await client.GET('/subscribers', { params: { query: { q: text, limit: 10 } }, signal })
      return data!.data
    },
  })
  return {
    entries: (text ? (read.data ?? []) : []).map((s) => ({
      key: s.id!,
      to: `/customers/${s.id}`,
      title: [s.firstName, s.lastName].filter(Boolean).join(' '),
      subtitle: [s.accountNumber, s.phone].filter(Boolean).join(' · '),
      icon: User,
    })),
    waiting: text.length > 0 && read.isFetching,
    failed: read.isError,
  }
}
