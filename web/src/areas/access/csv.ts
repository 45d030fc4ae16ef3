/** csvOf writes rows as a file for spreadsheets. A text that a spreadsheet would take for a formula is marked as text. */
export function csvOf(rows: string[][]): string {
  return rows.map((row) => row.map(cell).join(',')).join('\r\n') + '\r\n'
}

// As the API's own files: also in full width, behind spaces, and what a spreadsheet skips or takes for a cell's end.
const formula = /^[ \u00a0\u3000]*[=+\-@＝＋－＠\t\r\n;]/

function cell(text: string): string {
  const plain = formula.test(text) ? `'${text}` : text
  return /[",;\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
