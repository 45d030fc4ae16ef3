/** fileName is the name that the server gives to a file. */
const fileName = (answer: Response) => /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '')?.[1] ?? 'document.pdf'

/** saveAnswer hands over a document of the server, which was asked for as a blob. */
export async function saveAnswer(read: () => Promise<{ data?: unknown; response: Response }>) {
  const { data, response } = await read()
  save(fileName(response), data as Blob)
}

/** save hands a file to the person by the browser. */
export function save(name: string, content: Blob) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
