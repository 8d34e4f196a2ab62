<?php
// SPDX-License-Identifier: Apache-2.0
// Stores a USSD menu in two languages, gives it a code, and walks through it with a phone of the sandbox.
//   php loan_menu.php '*384*79#'
declare(strict_types=1);

require getenv('PAMOJA_AUTOLOAD') ?: 'vendor/autoload.php';

$pamoja = new Pamoja\Pamoja();
$shortcode = $argv[1] ?? '*384*79#';

$menu = (new Pamoja\Menu('Loans', ['en', 'sw']))
    ->choose('home', ['en' => 'Welcome', 'sw' => 'Karibu'], [
        [['en' => 'Loan', 'sw' => 'Mkopo'], 'amount'],
        [['en' => 'Nothing', 'sw' => 'Hapana'], 'bye'],
    ])
    ->ask('amount', ['en' => 'How much?', 'sw' => 'Kiasi?'], 'amount', 'done', ['pattern' => '^\d+$'])
    ->end('done', ['en' => 'You asked for {{data.amount}}', 'sw' => 'Umeomba {{data.amount}}'])
    ->end('bye', ['en' => 'Goodbye', 'sw' => 'Kwaheri']);
$id = $pamoja->ussd->createMenu($menu->jsonSerialize())['id'];
$pamoja->ussd->createShortcode(['shortcode' => $shortcode, 'mode' => 'menu', 'menu_id' => $id]);

$phone = (new Pamoja\Testing\Sandbox($pamoja))->phone('+254711000073');
$screen = $phone->dial($shortcode);
echo explode("\n", $screen['message'])[0], "\n";
$screen = $phone->answer($screen, '1');
echo $screen['message'], "\n";
$screen = $phone->answer($screen, '500');
echo $screen['message'], "\n";
