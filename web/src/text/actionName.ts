/** actionName says what an action is. A refusal's is its route; one without words is read from its name. */
export function actionName(action: string, words: Record<string, string>): string {
  const known = words[action]
  if (known) return known
  if (action.includes(' ')) return action
  const name = action.slice(action.lastIndexOf('.') + 1)
  const spaced = name.replace(/([a-z0-9])([A-Z])/g, (_, end: string, start: string) => `${end} ${start.toLowerCase()}`)
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}
