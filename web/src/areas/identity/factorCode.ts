/** typedCode is a code as it was typed, without what stands between its parts. */
export const typedCode = (text: string) => text.replace(/[\s-]/g, '')

/** isDeviceCode tells a code of a device: six digits. */
export const isDeviceCode = (text: string) => /^\d{6}$/.test(typedCode(text))

/** isFactorCode tells what can be sent: a code of a device, or a recovery code of ten letters and digits. */
export const isFactorCode = (text: string) => isDeviceCode(text) || /^[a-z0-9]{10}$/i.test(typedCode(text))
