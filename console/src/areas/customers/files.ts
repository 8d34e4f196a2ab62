// SPDX-License-Identifier: Apache-2.0
// Files as text, which requests and pictures of the page take.

/** File as a data URL. */
export function dataUrlOf(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error ?? new Error('the file cannot be read'))
    reader.readAsDataURL(file)
  })
}

/** File in base64. */
export async function base64Of(file: Blob): Promise<string> {
  return (await dataUrlOf(file)).split(',', 2)[1] ?? ''
}
