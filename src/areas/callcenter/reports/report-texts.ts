// SPDX-License-Identifier: Apache-2.0
// Texts of reports by mail, in every language: the mail, the paper and the headings of the CSV. The English headings are the names
// of the API, which programs read.
import type { Texts } from '../../../platform/web/language.ts'

// biome-ignore format: a line is a text
export const reportTexts = {
  queues: { en: 'Queues', fr: 'Files d’attente', pt: 'Filas', sw: 'Foleni', ar: 'الطوابير' },
  agents: { en: 'Agents', fr: 'Conseillers', pt: 'Agentes', sw: 'Mawakala', ar: 'الموظفون' },
  calls: { en: 'Calls', fr: 'Appels', pt: 'Chamadas', sw: 'Simu', ar: 'المكالمات' },
  title: { en: '{kind}: {name}', fr: '{kind} : {name}', pt: '{kind} – {name}', sw: '{kind} – {name}', ar: '{kind}، التقرير: {name}' },
  days: { en: '{from} to {to}', fr: '{from} au {to}', pt: '{from} a {to}', sw: '{from} hadi {to}', ar: 'من {from} إلى {to}' },
  test: { en: 'A test: no real calls.', fr: 'Un test : pas de vrais appels.', pt: 'Um teste: sem chamadas reais.', sw: 'Jaribio: si simu halisi.', ar: 'اختبار: لا مكالمات حقيقية.' },
  answered: { en: 'Answered', fr: 'Pris', pt: 'Atendidas', sw: 'Zilizopokelewa', ar: 'تم الرد' },
  abandoned: { en: 'Abandoned', fr: 'Abandonnés', pt: 'Abandonadas', sw: 'Zilizoachwa', ar: 'متروكة' },
  inTime: { en: 'In time', fr: 'À temps', pt: 'A tempo', sw: 'Kwa wakati', ar: 'في الوقت' },
  averageWait: { en: 'Average wait', fr: 'Attente moyenne', pt: 'Espera média', sw: 'Wastani wa kusubiri', ar: 'متوسط الانتظار' },
  averageCall: { en: 'Average call', fr: 'Appel moyen', pt: 'Chamada média', sw: 'Wastani wa simu', ar: 'متوسط المكالمة' },
  wait: { en: 'Wait', fr: 'Attente', pt: 'Espera', sw: 'Kusubiri', ar: 'الانتظار' },
  call: { en: 'Call', fr: 'Appel', pt: 'Chamada', sw: 'Mazungumzo', ar: 'المكالمة' },
  queue: { en: 'Queue', fr: 'File', pt: 'Fila', sw: 'Foleni', ar: 'الطابور' },
  agent: { en: 'Agent', fr: 'Conseiller', pt: 'Agente', sw: 'Wakala', ar: 'الموظف' },
  hour: { en: 'Hour', fr: 'Heure', pt: 'Hora', sw: 'Saa', ar: 'الساعة' },
  day: { en: 'Day', fr: 'Jour', pt: 'Dia', sw: 'Siku', ar: 'اليوم' },
  noQueue: { en: 'No queue', fr: 'Sans file', pt: 'Sem fila', sw: 'Bila foleni', ar: 'بلا طابور' },
  nobody: { en: 'Nobody', fr: 'Personne', pt: 'Ninguém', sw: 'Hakuna', ar: 'لا أحد' },
  most: { en: 'Most at once: {count}', fr: 'Maximum : {count}', pt: 'Máximo: {count}', sw: 'Juu zaidi: {count}', ar: 'الأكثر: {count}' },
  none: { en: 'There were no calls in this time.', fr: 'Aucun appel pendant cette période.', pt: 'Não houve chamadas neste período.', sw: 'Hakukuwa na simu katika kipindi hiki.', ar: 'لم تكن هناك مكالمات في هذه الفترة.' },
  further: { en: 'The first {count} of {all} lines; the CSV file has all of them.', fr: 'Les {count} premières lignes sur {all} ; le fichier CSV les contient toutes.', pt: 'As primeiras {count} de {all} linhas; o ficheiro CSV tem todas.', sw: 'Mistari {count} ya kwanza kati ya {all}; faili ya CSV ina yote.', ar: 'أول {count} من {all} سطر؛ ملف CSV فيه كل الأسطر.' },
  summary: { en: '{calls} calls, {answered} answered, {abandoned} abandoned.', fr: '{calls} appels, {answered} pris, {abandoned} abandonnés.', pt: '{calls} chamadas, {answered} atendidas, {abandoned} abandonadas.', sw: 'Simu {calls}: {answered} zilipokelewa, {abandoned} ziliachwa.', ar: '{calls} مكالمة: تم الرد على {answered} وتُركت {abandoned}.' },
  summaryInTime: { en: '{calls} calls, {answered} answered, {abandoned} abandoned, {share} in time.', fr: '{calls} appels, {answered} pris, {abandoned} abandonnés, {share} à temps.', pt: '{calls} chamadas, {answered} atendidas, {abandoned} abandonadas, {share} a tempo.', sw: 'Simu {calls}: {answered} zilipokelewa, {abandoned} ziliachwa, {share} kwa wakati.', ar: '{calls} مكالمة: تم الرد على {answered} وتُركت {abandoned}، {share} في الوقت.' },
  open: { en: 'Open the report in the console', fr: 'Ouvrir le rapport dans la console', pt: 'Abrir o relatório na consola', sw: 'Fungua ripoti kwenye konsoli', ar: 'فتح التقرير في لوحة التحكم' },
  why: { en: '{account} has this report mailed to {to}. Ask them to change that.', fr: '{account} fait envoyer ce rapport à {to}. Demandez-leur de le changer.', pt: '{account} envia este relatório para {to}. Peça-lhes para mudar isso.', sw: '{account} hutuma ripoti hii kwa {to}. Waombe wabadilishe hilo.', ar: 'ترسل {account} هذا التقرير إلى {to}. اطلب منهم تغيير ذلك.' },
} as const satisfies Texts<string>

// biome-ignore format: a line is a text
export const headingTexts = {
  interval_start: { en: 'interval_start', fr: 'Début', pt: 'Início', sw: 'Mwanzo', ar: 'البداية' },
  name: { en: 'name', fr: 'Nom', pt: 'Nome', sw: 'Jina', ar: 'الاسم' },
  queue_id: { en: 'queue_id', fr: 'Identifiant de file', pt: 'Id da fila', sw: 'Kitambulisho cha foleni', ar: 'معرّف الطابور' },
  agent_id: { en: 'agent_id', fr: 'Identifiant du conseiller', pt: 'Id do agente', sw: 'Kitambulisho cha wakala', ar: 'معرّف الموظف' },
  offered: { en: 'offered', fr: 'Appels', pt: 'Chamadas', sw: 'Simu', ar: 'المكالمات' },
  answered: { en: 'answered', fr: 'Pris', pt: 'Atendidas', sw: 'Zilizopokelewa', ar: 'تم الرد' },
  abandoned: { en: 'abandoned', fr: 'Abandonnés', pt: 'Abandonadas', sw: 'Zilizoachwa', ar: 'متروكة' },
  short_abandoned: { en: 'short_abandoned', fr: 'Abandonnés en 5 s', pt: 'Abandonadas em 5 s', sw: 'Zilizoachwa ndani ya sek 5', ar: 'متروكة خلال 5 ث' },
  overflowed: { en: 'overflowed', fr: 'Débordés', pt: 'Transbordadas', sw: 'Zilizoelekezwa kwingine', ar: 'محوّلة من طابور ممتلئ' },
  transferred: { en: 'transferred', fr: 'Transférés', pt: 'Transferidas', sw: 'Zilizohamishwa', ar: 'منقولة' },
  service_level_percent: { en: 'service_level_percent', fr: 'À temps, %', pt: 'A tempo, %', sw: 'Kwa wakati, %', ar: 'في الوقت، %' },
  asa_seconds: { en: 'asa_seconds', fr: 'Attente moyenne, s', pt: 'Espera média, s', sw: 'Wastani wa kusubiri, sek', ar: 'متوسط الانتظار، ث' },
  aht_seconds: { en: 'aht_seconds', fr: 'Appel moyen, s', pt: 'Chamada média, s', sw: 'Wastani wa simu, sek', ar: 'متوسط المكالمة، ث' },
  abandon_rate_percent: { en: 'abandon_rate_percent', fr: 'Abandon, %', pt: 'Abandono, %', sw: 'Zilizoachwa, %', ar: 'المتروكة، %' },
  occupancy_percent: { en: 'occupancy_percent', fr: 'Occupation, %', pt: 'Ocupação, %', sw: 'Muda wa kazini, %', ar: 'الإشغال، %' },
  talk_seconds: { en: 'talk_seconds', fr: 'Conversation, s', pt: 'Conversa, s', sw: 'Mazungumzo, sek', ar: 'التحدث، ث' },
  hold_seconds: { en: 'hold_seconds', fr: 'En garde, s', pt: 'Em espera com música, s', sw: 'Kusitishwa, sek', ar: 'قيد الانتظار، ث' },
  wrap_up_seconds: { en: 'wrap_up_seconds', fr: 'Après l’appel, s', pt: 'Após a chamada, s', sw: 'Baada ya simu, sek', ar: 'بعد المكالمة، ث' },
  max_wait_seconds: { en: 'max_wait_seconds', fr: 'Attente la plus longue, s', pt: 'Espera mais longa, s', sw: 'Kusubiri kurefu zaidi, sek', ar: 'أطول انتظار، ث' },
  wait_p50: { en: 'wait_p50', fr: 'Attente médiane, s', pt: 'Espera mediana, s', sw: 'Kusubiri kwa kati, sek', ar: 'وسيط الانتظار، ث' },
  wait_p90: { en: 'wait_p90', fr: 'Attente, 9 sur 10, s', pt: 'Espera, 9 em 10, s', sw: 'Kusubiri, 9 kati ya 10, sek', ar: 'الانتظار، 9 من 10، ث' },
  first_call_resolution_percent: { en: 'first_call_resolution_percent', fr: 'Résolus au premier appel, %', pt: 'Resolvidas à primeira, %', sw: 'Zilizotatuliwa mara ya kwanza, %', ar: 'حُلّت من أول مكالمة، %' },
  cost: { en: 'cost', fr: 'Coût', pt: 'Custo', sw: 'Gharama', ar: 'التكلفة' },
} as const satisfies Texts<string>
