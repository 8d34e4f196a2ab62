// SPDX-License-Identifier: Apache-2.0
// Texts of the public status page.
import type { Texts } from '../web/language.ts'

// biome-ignore format: a line is a phrase
export const statusTexts = {
  title: { en: 'Service status', fr: 'État du service', pt: 'Estado do serviço', sw: 'Hali ya huduma', ar: 'حالة الخدمة' },
  allWorks: { en: 'Everything works', fr: 'Tout fonctionne', pt: 'Tudo funciona', sw: 'Kila kitu kinafanya kazi', ar: 'كل شيء يعمل' },
  someWork: { en: 'Some parts have trouble', fr: 'Certaines parties ont des problèmes', pt: 'Algumas partes têm problemas', sw: 'Baadhi ya sehemu zina tatizo', ar: 'بعض الأجزاء بها مشكلة' },
  noneWorks: { en: 'Requests are currently not accepted', fr: 'Les requêtes ne sont pas acceptées pour l’instant', pt: 'De momento não são aceites pedidos', sw: 'Maombi hayapokelewi kwa sasa', ar: 'لا تُقبل الطلبات الآن' },
  api: { en: 'API and payments', fr: 'API et paiements', pt: 'API e pagamentos', sw: 'API na malipo', ar: 'الواجهة والمدفوعات' },
  texts: { en: 'Text messages to networks', fr: 'SMS vers les réseaux', pt: 'SMS para as redes', sw: 'SMS kwenda mitandaoni', ar: 'الرسائل النصية إلى الشبكات' },
  background: { en: 'Sending, webhooks and reports', fr: 'Envois, webhooks et rapports', pt: 'Envios, webhooks e relatórios', sw: 'Utumaji, webhook na ripoti', ar: 'الإرسال والإشعارات والتقارير' },
  works: { en: 'Works', fr: 'Fonctionne', pt: 'Funciona', sw: 'Inafanya kazi', ar: 'يعمل' },
  slow: { en: 'Slow', fr: 'Lent', pt: 'Lento', sw: 'Polepole', ar: 'بطيء' },
  down: { en: 'Does not work', fr: 'Ne fonctionne pas', pt: 'Não funciona', sw: 'Haifanyi kazi', ar: 'لا يعمل' },
  checked: { en: 'Checked {at}', fr: 'Vérifié le {at}', pt: 'Verificado em {at}', sw: 'Imekaguliwa {at}', ar: 'فُحص في {at}' },
} as const satisfies Texts<string>
