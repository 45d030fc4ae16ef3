import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { readUntilRead } from '../api/again'
import { client } from '../api/client'
import { type Found, foundOf } from './found'

/** useFound asks for a text. What was found before stays until the answer is there, and `waiting` says so. */
export function useFound(text: string, platform: boolean): { entries: Found[]; waiting: boolean; error: unknown } {
  const read = useQuery({
    queryKey: ['get', '/search', { params: { query: { q: text } } }],
    enabled: text !== '',
    placeholderData: keepPreviousData,
    // Told at once, since somebody is typing.
    retry: false,
    refetchInterval: readUntilRead,
    queryFn: async ({ signal }) => {
      const { data } = await client.GET('/search', { params: { query: { q: text } }, signal })
      return data!.data.map((r) => foundOf(r, platform))
    },
  })
  return {
    entries: (text && read.data) || [],
    waiting: text !== '' && (read.isPending || read.isPlaceholderData),
    error: text === '' ? null : read.error,
  }
}
