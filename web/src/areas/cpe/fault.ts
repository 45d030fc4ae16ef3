/** channelOf names the script in which a fault happened; null for a change that somebody asked for. */
export const channelOf = (channel: string): string | null => (channel.startsWith('task_') ? null : channel)
