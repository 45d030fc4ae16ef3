/** addressTyped tells by the sign which kind of address was typed. */
export const addressTyped = (text: string): { email: string } | { phone: string } =>
  text.includes('@') ? { email: text.trim() } : { phone: text.trim() }
