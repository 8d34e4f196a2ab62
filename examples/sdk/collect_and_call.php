<?php
// SPDX-License-Identifier: Apache-2.0
// Collects mobile money, waits until the payer has decided, and calls to say thank you.
//   php collect_and_call.php +254700000001 200
declare(strict_types=1);

require getenv('PAMOJA_AUTOLOAD') ?: 'vendor/autoload.php';

$pamoja = new Pamoja\Pamoja();
[$phone, $amount] = [$argv[1] ?? '+254700000001', $argv[2] ?? '200'];

try {
    $created = $pamoja->payments->create(['amount' => (int) $amount, 'currency' => 'KES', 'phone' => $phone]);
    $payment = $pamoja->payments->wait($created['payment_id']);
    if ($payment['status'] === 'completed') {
        $flow = (new Pamoja\Flow())->talk('Asante sana. We got your payment.', ['language' => 'en-KE'])->hangup();
        $call = $pamoja->voice->createCall(['to' => '+254711000020', 'from' => '+254700000000', 'actions' => $flow->actions]);
        echo 'Paid, and ', substr($call['call_id'], 0, 5), " says thank you\n";
    } else {
        echo 'Not paid: ', $payment['failure_reason'], "\n";
    }
} catch (Pamoja\PamojaError $error) {
    echo 'Refused: ', $error->errorCode, "\n";
}
