<?php
// SPDX-License-Identifier: Apache-2.0
// A test as a user writes it with the testing helpers; settings come from the environment. The same as helpers.mjs.
declare(strict_types=1);

require getenv('PAMOJA_AUTOLOAD');

$pamoja = new Pamoja\Pamoja();
$sandbox = new Pamoja\Testing\Sandbox($pamoja);
$ada = $sandbox->phone('+254711000063');
$pamoja->sms->send(['to' => $ada->number, 'from' => 'PAMOJA', 'message' => 'Habari Ada']);
$message = $ada->waitForText('/Ada/')['message'];
$otp = $pamoja->identity->sendOtp(['phone' => $ada->number]);
$verified = $pamoja->identity->verifyOtp(['otp_id' => $otp['otp_id'], 'code' => $ada->waitForCode()])['status'];
$ada->paysByHand();
$payment = $pamoja->payments->create(['amount' => 100, 'currency' => 'KES', 'phone' => $ada->number]);
$ada->approve();
$paid = $pamoja->payments->wait($payment['payment_id'])['status'];
$before = $sandbox->now();
$ahead = $sandbox->advance(3600)->getTimestamp() - $before->getTimestamp() >= 3600;
echo json_encode(['message' => $message, 'verified' => $verified, 'paid' => $paid, 'ahead' => $ahead]), "\n";
