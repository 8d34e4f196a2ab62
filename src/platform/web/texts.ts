// SPDX-License-Identifier: Apache-2.0
// Texts shared by all pages.
import type { Texts } from './language.ts'

export const pageTexts = {
  test: {
    en: 'This is a test. No real money moves.',
    fr: 'Ceci est un test. Aucun argent réel ne circule.',
    pt: 'Isto é um teste. Nenhum dinheiro real é movimentado.',
    sw: 'Hili ni jaribio. Hakuna pesa halisi zinazohamishwa.',
    ar: 'هذا اختبار. لا تُنقل أي أموال حقيقية.',
  },
  languages: { en: 'Language', fr: 'Langue', pt: 'Idioma', sw: 'Lugha', ar: 'اللغة' },
  noSuchPage: {
    en: 'No such page',
    fr: 'Page introuvable',
    pt: 'Página não encontrada',
    sw: 'Ukurasa haupo',
    ar: 'الصفحة غير موجودة',
  },
  notNow: { en: 'Not just now', fr: 'Pas pour l’instant', pt: 'Agora não', sw: 'Si kwa sasa', ar: 'ليس الآن' },
  failed: {
    en: 'Something failed on our side. Try again in a moment.',
    fr: 'Une erreur s’est produite de notre côté. Réessayez dans un instant.',
    pt: 'Algo falhou do nosso lado. Tente de novo dentro de momentos.',
    sw: 'Kuna hitilafu upande wetu. Jaribu tena baada ya muda mfupi.',
    ar: 'حدث خلل لدينا. حاول مرة أخرى بعد قليل.',
  },
} as const satisfies Texts<string>
