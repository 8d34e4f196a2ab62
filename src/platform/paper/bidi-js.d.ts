// SPDX-License-Identifier: Apache-2.0
// Types of the module file of bidi-js: those of the package describe the file for CommonJS.
declare module 'bidi-js/dist/bidi.mjs' {
  export { type Bidi, default } from 'bidi-js'
}
