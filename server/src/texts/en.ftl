# What end users read. A message for each kind of notification, with three bodies: what a push may say is up to its user.
#   .title   what happened, without anything about the payment
#   .amount  with the amount
#   .full    with the payee
# $amount, $payee, $reference, $reason, $device and $rest are texts, ready to be shown.
# $count selects the plural, and $number is the same in the digits of the locale.

amount = { $currency }{"\u00A0"}{ $value }

rest = { $unit ->
    [days] { $count ->
        [one] Approve it within { $number } day.
       *[other] Approve it within { $number } days.
    }
    [hours] { $count ->
        [one] Approve it within { $number } hour.
       *[other] Approve it within { $number } hours.
    }
   *[minutes] { $count ->
        [one] Approve it within { $number } minute.
       *[other] Approve it within { $number } minutes.
    }
}

approval-requested =
    .title = A payment waits for your approval
    .amount = Pay { $amount }? { $rest }
    .full = Pay { $amount } to { $payee }? { $rest }

approval-expired =
    .title = A payment was not approved in time
    .amount = { $amount } was not paid.
    .full = { $amount } to { $payee } was not paid.

payment-completed =
    .title = Your payment has arrived
    .amount = { $amount } was paid.
    .full = { $amount } was paid to { $payee }.

payment-failed =
    .title = Your payment failed
    .amount = { $amount } was not paid.
    .full = { $amount } to { $payee } was not paid: { $reason }.

payment-cancelled =
    .title = A payment was cancelled
    .amount = { $amount } was not paid.
    .full = { $amount } to { $payee } was not paid.

payment-returned =
    .title = A payment came back
    .amount = { $amount } was returned to you.
    .full = { $amount } that you paid to { $payee } was returned to you.

payment-reversed =
    .title = A payment was reversed
    .amount = { $amount } was given back to you.
    .full = { $amount } of what you paid to { $payee } was given back to you.

device-enrolled =
    .title = A device was added to your account
    .amount = If this was not you, tell your provider at once.
    .full = { $device } can now make payments for you. If this was not you, tell your provider at once.

device-revoked =
    .title = A device was removed from your account
    .amount = It can no longer make payments for you.
    .full = { $device } can no longer make payments for you.

# Why a payment failed.
reason-recipient-not-found = the recipient was not found
reason-account-closed = the recipient’s account is closed
reason-account-blocked = the recipient’s account is blocked
reason-insufficient-funds = it could not be paid out
reason-duplicate = it was made before
reason-over-limit = it is above a limit
reason-provider-offline = the operator cannot be reached
reason-invalid-amount = the operator does not take this amount
reason-not-allowed = the operator does not allow it
reason-other = the operator declined it
