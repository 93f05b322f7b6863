// CSV that a spreadsheet shows as text and never runs.

/** A cell that begins like a formula gets an apostrophe before it; numbers stay as they are. */
export function csvCell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return Number.isNaN(value) ? 'nan' : String(value).replace('Infinity', 'inf');
  const safe = /^[\s]*[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replace(/"/g, '""')}"` : safe;
}

export function csvText(head: string[], rows: (string | number | null | undefined)[][]): string {
  return [head, ...rows].map((row) => `${row.map(csvCell).join(',')}\n`).join('');
}
