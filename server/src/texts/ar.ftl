# See en.ftl for what the messages and their variables are.

amount = { $value }{"\u00A0"}{ $currency }

rest = { $unit ->
    [days] { $count ->
        [zero] وافق عليها الآن.
        [one] وافق عليها خلال يوم واحد.
        [two] وافق عليها خلال يومين.
        [few] وافق عليها خلال { $number } أيام.
        [many] وافق عليها خلال { $number } يومًا.
       *[other] وافق عليها خلال { $number } يوم.
    }
    [hours] { $count ->
        [zero] وافق عليها الآن.
        [one] وافق عليها خلال ساعة واحدة.
        [two] وافق عليها خلال ساعتين.
        [few] وافق عليها خلال { $number } ساعات.
        [many] وافق عليها خلال { $number } ساعة.
       *[other] وافق عليها خلال { $number } ساعة.
    }
   *[minutes] { $count ->
        [zero] وافق عليها الآن.
        [one] وافق عليها خلال دقيقة واحدة.
        [two] وافق عليها خلال دقيقتين.
        [few] وافق عليها خلال { $number } دقائق.
        [many] وافق عليها خلال { $number } دقيقة.
       *[other] وافق عليها خلال { $number } دقيقة.
    }
}

approval-requested =
    .title = دفعة بانتظار موافقتك
    .amount = هل تدفع { $amount }؟ { $rest }
    .full = هل تدفع { $amount } إلى { $payee }؟ { $rest }

approval-expired =
    .title = لم تتم الموافقة على الدفعة في الوقت المحدد
    .amount = لم يُدفع مبلغ { $amount }.
    .full = لم يُدفع مبلغ { $amount } إلى { $payee }.

payment-completed =
    .title = وصلت دفعتك
    .amount = تم دفع { $amount }.
    .full = تم دفع { $amount } إلى { $payee }.

payment-failed =
    .title = تعذّرت دفعتك
    .amount = لم يُدفع مبلغ { $amount }.
    .full = لم يُدفع مبلغ { $amount } إلى { $payee }: { $reason }.

payment-cancelled =
    .title = أُلغيت دفعة
    .amount = لم يُدفع مبلغ { $amount }.
    .full = لم يُدفع مبلغ { $amount } إلى { $payee }.

payment-returned =
    .title = أُعيدت دفعة
    .amount = أُعيد إليك مبلغ { $amount }.
    .full = أُعيد إليك مبلغ { $amount } الذي دفعته إلى { $payee }.

payment-reversed =
    .title = تم عكس دفعة
    .amount = رُدّ إليك مبلغ { $amount }.
    .full = رُدّ إليك مبلغ { $amount } مما دفعته إلى { $payee }.

device-enrolled =
    .title = أُضيف جهاز إلى حسابك
    .amount = إذا لم تكن أنت من أضافه، فأبلغ مزوّد الخدمة فورًا.
    .full = يمكن الآن للجهاز { $device } إجراء دفعات باسمك. إذا لم تكن أنت من أضافه، فأبلغ مزوّد الخدمة فورًا.

device-revoked =
    .title = أُزيل جهاز من حسابك
    .amount = لم يعد بإمكانه إجراء دفعات باسمك.
    .full = لم يعد بإمكان الجهاز { $device } إجراء دفعات باسمك.

reason-recipient-not-found = لم يُعثر على المستفيد
reason-account-closed = حساب المستفيد مغلق
reason-account-blocked = حساب المستفيد محظور
reason-insufficient-funds = تعذّر صرف المبلغ
reason-duplicate = سبق إجراؤها
reason-over-limit = تتجاوز الحد المسموح
reason-provider-offline = يتعذّر الوصول إلى المشغّل
reason-invalid-amount = لا يقبل المشغّل هذا المبلغ
reason-not-allowed = لا يسمح بها المشغّل
reason-other = رفضها المشغّل
