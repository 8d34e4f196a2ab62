// SPDX-License-Identifier: Apache-2.0
// Words of the area in Swahili, French, Portuguese and Arabic.
// biome-ignore format: a line is a phrase
export const words: Readonly<Record<string, readonly [sw: string, fr: string, pt: string, ar: string]>> = {
  'Turn off two-factor sign-in?': ['Kuzima uthibitishaji wa hatua mbili?', 'Désactiver la double authentification ?', 'Desativar a verificação em dois passos?', 'إيقاف التحقق بخطوتين؟'],
  'The password alone signs you in. Recovery codes stop working.': ['Nenosiri peke yake litatosha. Misimbo ya dharura haitafanya kazi.', 'Le mot de passe suffit alors. Les codes de secours ne servent plus.', 'A palavra-passe basta. Os códigos de recuperação deixam de servir.', 'تكفي كلمة المرور وحدها. تتوقف رموز الاسترداد.'],
  'Turn off two-factor sign-in': ['Zima uthibitishaji wa hatua mbili', 'Désactiver la double authentification', 'Desativar a verificação em dois passos', 'إيقاف التحقق بخطوتين'],
  'Keep it on': ['Iache iwake', 'La laisser active', 'Deixar ativa', 'إبقاؤه مفعّلًا'],
  Keep: ['Mwache', 'Le garder', 'Manter', 'الإبقاء عليه'],
  'Keys created by the member are revoked.': ['Funguo alizotengeneza zinabatilishwa.', 'Les clés qu’il a créées sont révoquées.', 'As chaves que criou são revogadas.', 'تُبطل المفاتيح التي أنشأها.'],
  'The member is signed out at once.': ['Anatolewa mara moja.', 'Il est déconnecté aussitôt.', 'A sessão dele termina de imediato.', 'يُسجَّل خروجه فورًا.'],
  'Password link': ['Kiungo cha nenosiri', 'Lien de mot de passe', 'Ligação da palavra-passe', 'رابط كلمة المرور'],
  Passkeys: ['Passkey', 'Clés d’accès', 'Chaves de acesso', 'مفاتيح المرور'],
  'A passkey signs you in with your fingerprint, face or device PIN, instead of password and code.': ['Passkey inakuingiza kwa alama ya kidole, uso au PIN ya kifaa chako. Inasimama badala ya nenosiri na msimbo.', 'Une clé d’accès vous connecte par empreinte, visage ou code de votre appareil. Elle vaut mot de passe et code.', 'Uma chave de acesso autentica-o com a impressão digital, o rosto ou o PIN do dispositivo. Vale por palavra-passe e código.', 'يُدخلك مفتاح المرور ببصمتك أو وجهك أو رمز جهازك، ويقوم مقام كلمة المرور والرمز.'],
  'It can no longer be used to sign in.': ['Haitamwingiza mtu yeyote kuanzia sasa.', 'Elle ne connecte plus personne.', 'Deixa de autenticar quem quer que seja.', 'لن يُدخل أحدًا من الآن.'],
  'added {time}, not used yet': ['imeongezwa {time}, haijatumika', 'ajoutée {time}, pas encore utilisée', 'adicionada {time}, ainda não usada', 'أضيف {time}، ولم يُستخدم بعد'],
  'last used {time}': ['ilitumika mwisho {time}', 'dernière utilisation {time}', 'última utilização {time}', 'آخر استخدام {time}'],
  'This browser cannot use passkeys at this address.': ['Kivinjari hiki hakiwezi kutumia passkey kwenye anwani hii.', 'Ce navigateur ne peut pas utiliser de clés d’accès à cette adresse.', 'Este navegador não pode usar chaves de acesso neste endereço.', 'لا يستطيع هذا المتصفح استخدام مفاتيح المرور على هذا العنوان.'],
  'Name of this device': ['Jina la kifaa hiki', 'Nom de cet appareil', 'Nome deste dispositivo', 'اسم هذا الجهاز'],
  'Add a passkey': ['Ongeza passkey', 'Ajouter une clé d’accès', 'Adicionar uma chave de acesso', 'إضافة مفتاح مرور'],
  'The invitation is mailed. If no mail arrives, pass this link on: it is shown once and works for a week.': ['Mwaliko umetumwa kwa barua pepe. Ikiwa haufiki, mpe kiungo hiki: kinaonyeshwa mara moja na hufanya kazi kwa wiki moja.', 'L’invitation est envoyée par courriel. Si elle n’arrive pas, transmettez ce lien : il n’est affiché qu’une fois et vaut une semaine.', 'O convite é enviado por correio eletrónico. Se não chegar, passe esta ligação: é mostrada uma vez e vale uma semana.', 'تُرسل الدعوة بالبريد. إن لم تصل، مرّر هذا الرابط: يظهر مرة واحدة ويعمل لمدة أسبوع.'],
  'address not verified': ['anwani haijathibitishwa', 'adresse non vérifiée', 'endereço não verificado', 'العنوان غير مُثبت'],
  'Begin with {name}': ['Anza na {name}', 'Commencer avec {name}', 'Começar com {name}', 'ابدأ عبر {name}'],
  'Connect {name}': ['Unganisha {name}', 'Associer {name}', 'Ligar {name}', 'ربط {name}'],
  'Connect it to sign in there instead of with a password.': ['Iunganishe ili uingie kupitia hapo badala ya nenosiri lako.', 'Associez-le pour vous y connecter au lieu d’utiliser votre mot de passe.', 'Ligue-o para iniciar sessão aí em vez de usar a palavra-passe.', 'اربطه لتسجّل الدخول عبره بدل كلمة المرور.'],
  'Connected. You can sign in with {name} from now on.': ['Imeunganishwa. Unaweza kuingia kwa {name} kuanzia sasa.', 'Associé. Vous pouvez désormais vous connecter avec {name}.', 'Ligado. A partir de agora pode iniciar sessão com {name}.', 'تم الربط. يمكنك تسجيل الدخول عبر {name} من الآن.'],
  '{account} invites you to their account: {email}': ['{account} wanakualika kwenye akaunti yao: {email}', '{account} vous invite dans son compte : {email}', '{account} convida-o para a sua conta: {email}', 'يدعوك {account} إلى حسابه: {email}'],
}
