// SPDX-License-Identifier: Apache-2.0
// The clock that most people of an African country live by.

const zones: Readonly<Record<string, string>> = {
  AC: 'Atlantic/St_Helena', AO: 'Africa/Luanda', BF: 'Africa/Ouagadougou', BI: 'Africa/Bujumbura',
  BJ: 'Africa/Porto-Novo', BW: 'Africa/Gaborone', CD: 'Africa/Kinshasa', CF: 'Africa/Bangui', CG: 'Africa/Brazzaville',
  CI: 'Africa/Abidjan', CM: 'Africa/Douala', CV: 'Atlantic/Cape_Verde', DJ: 'Africa/Djibouti', DZ: 'Africa/Algiers',
  EG: 'Africa/Cairo', ER: 'Africa/Asmara', ET: 'Africa/Addis_Ababa', GA: 'Africa/Libreville', GH: 'Africa/Accra',
  GM: 'Africa/Banjul', GN: 'Africa/Conakry', GQ: 'Africa/Malabo', GW: 'Africa/Bissau', IO: 'Indian/Chagos',
  KE: 'Africa/Nairobi', KM: 'Indian/Comoro', LR: 'Africa/Monrovia', LS: 'Africa/Maseru', LY: 'Africa/Tripoli',
  MA: 'Africa/Casablanca', MG: 'Indian/Antananarivo', ML: 'Africa/Bamako', MR: 'Africa/Nouakchott',
  MU: 'Indian/Mauritius', MW: 'Africa/Blantyre', MZ: 'Africa/Maputo', NA: 'Africa/Windhoek', NE: 'Africa/Niamey',
  NG: 'Africa/Lagos', RE: 'Indian/Reunion', RW: 'Africa/Kigali', SC: 'Indian/Mahe', SD: 'Africa/Khartoum',
  SH: 'Atlantic/St_Helena', SL: 'Africa/Freetown', SN: 'Africa/Dakar', SO: 'Africa/Mogadishu', SS: 'Africa/Juba',
  ST: 'Africa/Sao_Tome', SZ: 'Africa/Mbabane', TD: 'Africa/Ndjamena', TG: 'Africa/Lome', TN: 'Africa/Tunis',
  TZ: 'Africa/Dar_es_Salaam', UG: 'Africa/Kampala', ZA: 'Africa/Johannesburg', ZM: 'Africa/Lusaka', ZW: 'Africa/Harare',
} // biome-ignore format: a table reads better dense

/** Null where it is not known. */
export function zoneOf(country: string | null): string | null {
  return zones[country ?? ''] ?? null
}
